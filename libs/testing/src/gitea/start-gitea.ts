import { randomBytes } from 'node:crypto';
import { GiteaServer } from './gitea-server.js';
import { GiteaUser } from './gitea-user.js';

export interface Gitea {
  /** Without a slash at its end. */
  readonly url: string;
  /** May do everything. */
  readonly admin: GiteaUser;
  /** To stop, kill and start it again. */
  readonly server: GiteaServer;
  close(): Promise<void>;
}

/** An empty Gitea with an admin, in a temporary folder, for one test. @throws as `GiteaServer.open`. */
export async function startGitea(
  options: { readonly say?: (line: string) => void; readonly signal?: AbortSignal } = {},
): Promise<Gitea> {
  const server = await GiteaServer.open(options);
  try {
    const password = randomBytes(16).toString('hex');
    await server.createAdmin('operator', password);
    return {
      url: server.url,
      server,
      admin: await GiteaUser.signIn(server.url, 'operator', password),
      close: () => server.close(),
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}
