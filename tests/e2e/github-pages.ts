import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ScriptedAccount, ScriptedGitHub, ScriptedInstallation } from '@slipway/integrations/testing';

const escaped = (value: string): string => value.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);

/** The pages of the scripted GitHub that a browser is sent to: each asks what GitHub asks, with one button. */
export class GitHubPages {
  /** Who is signed in there. */
  user: ScriptedAccount;
  private readonly github: ScriptedGitHub;
  private readonly at: {
    readonly user: ScriptedAccount;
    readonly account: ScriptedAccount;
    readonly repositories: readonly string[];
  };
  /** Newest last. */
  readonly installed: ScriptedInstallation[] = [];
  /** Manifests that wait for the button. */
  private readonly manifests: { action: string; manifest: string }[] = [];

  constructor(github: ScriptedGitHub, at: GitHubPages['at']) {
    this.github = github;
    this.at = at;
    this.user = at.user;
  }

  /** True: it is ours to answer. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const url = new URL(request.url ?? '/', this.github.url);
    const page = (html: string): void =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>GitHub</title>${html}`);
    const go = (to: URL): void => void response.writeHead(302, { location: to.href }).end();
    const button = (label: string, action: string): string =>
      `<form method="post" action="${escaped(action)}"><button>${escaped(label)}</button></form>`;
    if (/^\/(?:organizations\/[^/]+\/)?settings\/apps\/new$/.test(url.pathname) && request.method === 'POST') {
      void text(request).then((sent) => {
        const manifest = new URLSearchParams(sent).get('manifest') ?? '';
        this.manifests.push({ action: url.href, manifest });
        page(
          button(
            `Create GitHub App ${(JSON.parse(manifest) as { name: string }).name}`,
            `/confirm-manifest?of=${this.manifests.length - 1}`,
          ),
        );
      });
      return true;
    }
    if (url.pathname === '/confirm-manifest') {
      const { action, manifest } = this.manifests[Number(url.searchParams.get('of'))] ?? { action: '', manifest: '' };
      void this.github.confirmManifest(action, manifest).then(go);
      return true;
    }
    if (/^\/(?:github-)?apps\/[^/]+\/installations\/new$/.test(url.pathname)) {
      if (request.method === 'GET') page(button(`Install on ${this.at.account.login}`, url.pathname + url.search));
      else {
        const { installation, back } = this.github.install(url.href, this.user, this.at.account, [
          ...this.at.repositories,
        ]);
        this.installed.push(installation);
        go(back);
      }
      return true;
    }
    if (url.pathname === '/login/oauth/authorize') {
      if (request.method === 'GET') page(button(`Authorize as ${this.user.login}`, url.pathname + url.search));
      else go(this.github.consent(url.href, this.user));
      return true;
    }
    return false;
  }
}
