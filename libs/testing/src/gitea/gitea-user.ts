import { GiteaApi } from './gitea-api.js';
import { GiteaRepository } from './gitea-repository.js';

export interface GiteaAccount {
  readonly id: number;
  readonly login: string;
  readonly email: string;
}

export interface GiteaOAuth2Application {
  readonly id: number;
  readonly client_id: string;
  readonly client_secret: string;
}

export interface NewRepository {
  readonly name: string;
  /** An organization [the user]. */
  readonly owner?: string;
  readonly private?: boolean;
  /** Path → text, in its first commit on `main`. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A user with an account, acting by a token. */
export class GiteaUser {
  private readonly api: GiteaApi;

  /** @param token that the calls are made with. */
  constructor(
    readonly url: string,
    readonly login: string,
    readonly password: string,
    readonly token: string,
  ) {
    this.api = new GiteaApi(url, `token ${token}`);
  }

  /**
   * With a new token for the account. @param scopes of that token, such as `write:repository` [everything]. @throws
   * GiteaRefusal 401 for a wrong password.
   */
  static async signIn(
    url: string,
    login: string,
    password: string,
    scopes: readonly string[] = ['all'],
  ): Promise<GiteaUser> {
    return new GiteaUser(
      url,
      login,
      password,
      await createToken(url, login, password, `slipway-${Date.now()}`, scopes),
    );
  }

  /** As `GiteaApi.call`, with the user's token. */
  call<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    return this.api.call(method, path, body);
  }

  self(): Promise<GiteaAccount> {
    return this.call('GET', '/user');
  }

  /** Another token, shown once. */
  createToken(name: string, scopes: readonly string[]): Promise<string> {
    return createToken(this.url, this.login, this.password, name, scopes);
  }

  /** For admins. @returns the new user, with a token for everything. */
  async createUser(login: string, password = `${login}-password`): Promise<GiteaUser> {
    await this.call('POST', '/admin/users', {
      username: login,
      email: `${login}@example.test`,
      password,
      must_change_password: false,
    });
    return GiteaUser.signIn(this.url, login, password);
  }

  /** The user owns it. */
  createOrganization(name: string): Promise<{ readonly id: number }> {
    return this.call('POST', '/orgs', { username: name, visibility: 'public' });
  }

  /** With one commit when there are files; otherwise empty. */
  async createRepository({ name, owner, files, ...rest }: NewRepository): Promise<GiteaRepository> {
    const place = owner === undefined ? '/user/repos' : `/orgs/${owner}/repos`;
    await this.call('POST', place, { name, private: rest.private ?? false, default_branch: 'main' });
    const repository = this.repository(owner ?? this.login, name);
    if (files !== undefined) await repository.commit({ message: 'Begin', files });
    return repository;
  }

  /** One that is there already, seen with this user's rights. */
  repository(owner: string, name: string): GiteaRepository {
    return new GiteaRepository(this.api, owner, name);
  }

  /** Where `git` finds a repository, with the user's name and token in it. */
  cloneUrl({ owner, name }: { readonly owner: string; readonly name: string }): string {
    const url = new URL(`${this.url}/${owner}/${name}.git`);
    [url.username, url.password] = [this.login, this.token];
    return url.href;
  }

  createOAuth2Application(name: string, redirectUris: readonly string[]): Promise<GiteaOAuth2Application> {
    return this.call('POST', '/user/applications/oauth2', {
      name,
      redirect_uris: redirectUris,
      confidential_client: true,
    });
  }
}

/** Gitea makes tokens for a password only. */
async function createToken(
  url: string,
  login: string,
  password: string,
  name: string,
  scopes: readonly string[],
): Promise<string> {
  const api = new GiteaApi(url, `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`);
  return (await api.call<{ sha1: string }>('POST', `/users/${login}/tokens`, { name, scopes })).sha1;
}
