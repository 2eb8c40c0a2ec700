import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { type Accounts, Registration } from './accounts.js';
import type { Config } from './config.js';
import type { Page } from './pages/layout.js';
import { messagePage } from './pages/message-page.js';
import { registrationPage } from './pages/registration-page.js';
import { signInPage } from './pages/sign-in-page.js';
import { type FactorStep, SecondFactorSteps } from './second-factor-steps.js';
import type { SecondFactors } from './second-factors.js';
import { SignInAttempts } from './sign-in-attempts.js';

/** Largest form. Bytes. */
const MAX_FORM_BYTES = 16 * 1024;

/**
 * The pages of a sign-in, below `/realms/<realm>/login/<uid>`. A form counts only with the cookie that the same browser
 * got when its sign-in began, and never from another site's page.
 */
export class SignInPages {
  private readonly attempts = new SignInAttempts();
  private readonly steps: SecondFactorSteps;
  private readonly route: RegExp;
  private readonly origin: string;
  private readonly returnOrigin: string;

  constructor(
    private readonly provider: Provider,
    private readonly accounts: Accounts,
    factors: SecondFactors,
    config: Config,
  ) {
    const issuer = new URL(config.ISSUER_URL);
    this.origin = issuer.origin;
    this.returnOrigin = new URL(config.REDIRECT_URI).origin;
    this.route = new RegExp(`^${issuer.pathname}/login/[\\w-]+(?:/(register|code|set-up|recovered|continue))?$`);
    this.steps = new SecondFactorSteps(provider, accounts, factors, this.returnOrigin);
  }

  /** @returns false when the path is none of ours. */
  async handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
    const match = this.route.exec(path);
    if (match === null) return false;
    try {
      await this.provider.interactionDetails(request, response);
    } catch {
      this.answer(
        response,
        400,
        messagePage({
          title: 'This sign-in is over',
          text: 'It took too long, or it was begun in another browser.',
          link: { href: `${this.returnOrigin}/oauth/login`, label: 'Start again' },
        }),
      );
      return true;
    }
    const step = match[1] as 'register' | FactorStep | undefined;
    const signInPath = step === undefined ? path : path.slice(0, -step.length - 1);
    if (request.method === 'GET') {
      if (step === undefined || step === 'register')
        this.answer(
          response,
          200,
          step === 'register' ? this.registration(signInPath, {}) : this.signIn(signInPath, {}),
        );
      else await this.steps.handle({ request, response, path: signInPath }, step, null);
    } else if (request.method !== 'POST') {
      response.writeHead(405, { allow: 'GET, POST' }).end();
    } else if (request.headers.origin !== undefined && request.headers.origin !== this.origin) {
      this.answer(
        response,
        403,
        messagePage({
          title: 'The form came from another site',
          text: 'Open the sign-in page of Slipway itself.',
          link: { href: `${this.returnOrigin}/oauth/login`, label: 'Start again' },
        }),
      );
    } else {
      const form = await readForm(request);
      if (form === null) response.writeHead(413, { connection: 'close' }).end();
      else if (step === undefined) await this.verify(request, response, signInPath, form);
      else if (step === 'register') await this.register(request, response, signInPath, form);
      else await this.steps.handle({ request, response, path: signInPath }, step, form.get('code') ?? '');
    }
    return true;
  }

  private async verify(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    form: URLSearchParams,
  ): Promise<void> {
    const username = form.get('username') ?? '';
    const wait = this.attempts.waitMs(username, Date.now());
    if (wait > 0) {
      response.setHeader('retry-after', String(Math.ceil(wait / 1000)));
      return this.answer(
        response,
        429,
        this.signIn(path, {
          username,
          error: `Too many wrong passwords. Try again in ${Math.ceil(wait / 1000)} seconds.`,
        }),
      );
    }
    const account = await this.accounts.verify(username, form.get('password') ?? '');
    if (account === null) {
      this.attempts.failed(username, Date.now());
      return this.answer(
        response,
        401,
        this.signIn(path, { username, error: 'The user name or the password is not right.' }),
      );
    }
    this.attempts.succeeded(username);
    await this.steps.begin({ request, response, path }, account);
  }

  private async register(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    form: URLSearchParams,
  ): Promise<void> {
    const values = Object.fromEntries(['name', 'email', 'username'].map((name) => [name, form.get(name) ?? '']));
    const parsed = Registration.safeParse({ ...values, password: form.get('password') ?? '' });
    if (!parsed.success) {
      const errors = Object.fromEntries(
        parsed.error.issues.toReversed().map((issue) => [String(issue.path[0]), issue.message]),
      );
      return this.answer(response, 400, this.registration(path, { values, errors }));
    }
    const account = await this.accounts.register(parsed.data);
    if (account === 'username-taken')
      return this.answer(
        response,
        409,
        this.registration(path, { values, errors: { username: 'This user name is taken. Choose another.' } }),
      );
    if (account === 'email-taken')
      return this.answer(
        response,
        409,
        this.registration(path, {
          values,
          errors: { email: 'There is an account with this address. Sign in instead.' },
        }),
      );
    await this.steps.begin({ request, response, path }, account);
  }

  private signIn(path: string, more: { username?: string; error?: string }): Page {
    return signInPage({ action: path, registerHref: `${path}/register`, returnOrigin: this.returnOrigin, ...more });
  }

  private registration(path: string, more: { values?: Record<string, string>; errors?: Record<string, string> }): Page {
    return registrationPage({ action: `${path}/register`, signInHref: path, returnOrigin: this.returnOrigin, ...more });
  }

  private answer(response: ServerResponse, status: number, page: Page): void {
    response.writeHead(status, page.headers).end(page.html);
  }
}

/** `null` for one that is too large. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_FORM_BYTES) return null;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}
