/** The admin API of one Keycloak, as its bootstrap admin. */
export class KeycloakAdmin {
  private token: { readonly text: string; readonly until: number } | undefined;

  /** @param url of the server, without a realm. */
  constructor(
    private readonly url: string,
    private readonly realm: string,
    private readonly password: string,
  ) {}

  /**
   * @param path below the realm, such as `/users`; empty for the realm itself.
   * @returns the parsed answer, or the last part of `location` for something that was made.
   * @throws Error with the server's words when it refuses.
   */
  async call<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(
      `${this.url}/admin/realms${method === 'POST' && path === '' ? '' : `/${this.realm}${path}`}`,
      {
        method,
        headers: { authorization: `Bearer ${await this.accessToken()}`, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(30_000),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
    );
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text.slice(0, 1_000)}`);
    const location = response.headers.get('location');
    return (text === '' ? location?.split('/').at(-1) : JSON.parse(text)) as T;
  }

  /** Another realm of the same Keycloak, made of its representation. */
  async makeRealm(
    representation: Readonly<Record<string, unknown>> & { readonly realm: string },
  ): Promise<KeycloakAdmin> {
    const other = new KeycloakAdmin(this.url, representation.realm, this.password);
    await other.call('POST', '', representation);
    return other;
  }

  /** A user with a password and a verified e-mail address. @returns their id. */
  createUser(user: {
    username: string;
    email: string;
    password: string;
    firstName: string;
    lastName: string;
  }): Promise<string> {
    const { password, ...rest } = user;
    return this.call('POST', '/users', {
      ...rest,
      enabled: true,
      emailVerified: true,
      credentials: [{ type: 'password', value: password, temporary: false }],
    });
  }

  private async accessToken(): Promise<string> {
    if (this.token !== undefined && this.token.until > performance.now()) return this.token.text;
    const response = await fetch(`${this.url}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'password',
        client_id: 'admin-cli',
        username: 'admin',
        password: this.password,
      }),
      signal: AbortSignal.timeout(30_000),
    });
    if (!response.ok)
      throw new Error(`Keycloak gave its admin no token (${response.status}): ${await response.text()}`);
    const { access_token, expires_in } = (await response.json()) as { access_token: string; expires_in: number };
    this.token = { text: access_token, until: performance.now() + (expires_in - 10) * 1_000 };
    return access_token;
  }
}
