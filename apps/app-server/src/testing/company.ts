import type { Org, Role } from '@slipway/contracts/organizations';
import type { ConversationApp, User } from './conversation-app.js';

/**
 * A company organization with people of all roles, made over HTTP where that is the shortest way and put into the
 * tables where it is not.
 */
export class Company {
  private constructor(
    readonly app: ConversationApp,
    readonly org: Org,
    readonly owner: User,
  ) {}

  static async open(app: ConversationApp, name = 'Analytical Engines'): Promise<Company> {
    const owner = await app.user(`Owner of ${name}`);
    const { status, body } = await app.http<Org>(owner, 'POST', '/api/v1/orgs', { name });
    if (status !== 201) throw new Error(`orgs answered ${status}: ${JSON.stringify(body)}`);
    return new Company(app, body, owner);
  }

  /** An existing member, with a confirmed address. */
  async member(role: Role, name: string = role): Promise<User> {
    const user = await this.app.user(name);
    await this.app.owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [
      this.org.id,
      user.userId,
      role,
    ]);
    await this.address(user, `${user.userId}@company.example`);
    return user;
  }

  async address(user: User, email: string, verified = true): Promise<void> {
    await this.app.owner.query('UPDATE app.user_account SET email = $2, email_verified = $3 WHERE id = $1', [
      user.userId,
      email,
      verified,
    ]);
  }

  path(rest = ''): string {
    return `/api/v1/orgs/${this.org.id}${rest}`;
  }

  roles(): Promise<Record<string, string>> {
    return this.app.owner
      .query<{ user_id: string; role: string }>('SELECT user_id, role FROM app.membership WHERE org_id = $1', [
        this.org.id,
      ])
      .then(({ rows }) => Object.fromEntries(rows.map(({ user_id, role }) => [user_id, role])));
  }

  /** What the audit of the organization says, oldest first. */
  async audit(): Promise<Array<{ action: string; actor_id: string; target: string; before: unknown; after: unknown }>> {
    const { rows } = await this.app.owner.query(
      'SELECT e.action, e.actor_id, e.target, e.before, e.after FROM app.audit_entry e JOIN app.audit_chain c ON c.entry_id = e.id WHERE e.org_id = $1 ORDER BY c.seq',
      [this.org.id],
    );
    return rows;
  }
}
