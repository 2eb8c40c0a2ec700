import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import type { Account, Accounts } from './accounts.js';
import { newSecret } from './one-time-code.js';
import type { Page } from './pages/layout.js';
import { codePage, recoveredPage, recoveryCodesPage, setUpPage } from './pages/second-factor-pages.js';
import { SECOND_FACTOR_ACR, type SecondFactors } from './second-factors.js';
import { SignInAttempts } from './sign-in-attempts.js';

/** How far a sign-in has come, kept with it in the store. */
interface Progress {
  /** Whose password was right. */
  readonly accountId: string;
  /** The second factor has been verified too. */
  readonly proved: boolean;
  /** The key that is being set up. */
  readonly secret: string | null;
}
/** What the path of a step ends in. */
export type FactorStep = 'code' | 'set-up' | 'recovered' | 'continue';

interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Of the sign-in, without the step. */
  readonly path: string;
}

/**
 * What comes after a right password: nothing, a code, or setting one up where the sign-in wants a second factor
 * (`acr_values`).
 */
export class SecondFactorSteps {
  private readonly attempts = new SignInAttempts();

  constructor(
    private readonly provider: Provider,
    private readonly accounts: Accounts,
    private readonly factors: SecondFactors,
    private readonly returnOrigin: string,
  ) {}

  async begin(asked: Asked, account: Account): Promise<void> {
    const details = await this.provider.interactionDetails(asked.request, asked.response);
    if (this.factors.has(account.id))
      return this.go(asked, { accountId: account.id, proved: false, secret: null }, 'code');
    if (wantsSecondFactor(details.params['acr_values']))
      return this.go(asked, { accountId: account.id, proved: false, secret: newSecret() }, 'set-up');
    return this.finish(asked, account.id, { acr: 'password', amr: ['pwd'] });
  }

  /** @param code of the form that was sent; `null` when the page is only shown. */
  async handle(asked: Asked, step: FactorStep, code: string | null): Promise<void> {
    const details = await this.provider.interactionDetails(asked.request, asked.response);
    const progress = (details.result as { progress?: Progress } | undefined)?.progress;
    const account = progress === undefined ? undefined : this.accounts.find(progress.accountId);
    if (progress === undefined || account === undefined) return redirect(asked.response, asked.path);
    if (step === 'code') return this.code(asked, account, progress, code);
    if (step === 'set-up') return this.setUp(asked, account, progress, code);
    if (!progress.proved) return redirect(asked.response, asked.path);
    if (step === 'continue' && code !== null)
      return this.finish(asked, account.id, { acr: SECOND_FACTOR_ACR, amr: ['pwd', 'otp'] });
    const form = { action: `${asked.path}/continue`, returnOrigin: this.returnOrigin };
    return answer(
      asked.response,
      200,
      recoveredPage({ ...form, left: this.factors.recoveryCodesLeft(account.id), setUpHref: `${asked.path}/set-up` }),
    );
  }

  private async code(asked: Asked, account: Account, progress: Progress, code: string | null): Promise<void> {
    const show = (status: number, error?: string): void =>
      answer(
        asked.response,
        status,
        codePage({ action: `${asked.path}/code`, returnOrigin: this.returnOrigin, error }),
      );
    if (code === null) return show(200);
    const wait = this.attempts.waitMs(account.id, Date.now());
    if (wait > 0) {
      asked.response.setHeader('retry-after', String(Math.ceil(wait / 1000)));
      return show(429, `Too many wrong codes. Try again in ${Math.ceil(wait / 1000)} seconds.`);
    }
    const used = this.factors.use(account.id, code, Date.now());
    if (used === null) {
      this.attempts.failed(account.id, Date.now());
      return show(401, 'This code is not right, or it has been used. Wait for the next one.');
    }
    this.attempts.succeeded(account.id);
    if (used === 'recovery') return this.go(asked, { ...progress, proved: true }, 'recovered');
    return this.finish(asked, account.id, { acr: SECOND_FACTOR_ACR, amr: ['pwd', 'otp'] });
  }

  /** For users without one, and for those who have just passed theirs. */
  private async setUp(asked: Asked, account: Account, progress: Progress, code: string | null): Promise<void> {
    if (this.factors.has(account.id) && !progress.proved) return redirect(asked.response, asked.path);
    if (progress.secret === null) return this.go(asked, { ...progress, secret: newSecret() }, 'set-up');
    const codes = code === null ? null : this.factors.setUp(account.id, progress.secret, code, Date.now());
    if (codes === null) {
      const error = code === null ? undefined : 'This code is not right. Is the time of your phone?';
      const form = {
        action: `${asked.path}/set-up`,
        returnOrigin: this.returnOrigin,
        error,
        username: account.username,
        secret: progress.secret,
      };
      return answer(asked.response, code === null ? 200 : 401, setUpPage(form));
    }
    await this.keep(asked, { accountId: account.id, proved: true, secret: null });
    answer(
      asked.response,
      200,
      recoveryCodesPage({ action: `${asked.path}/continue`, returnOrigin: this.returnOrigin, codes }),
    );
  }

  private async go(asked: Asked, progress: Progress, step: FactorStep): Promise<void> {
    await this.keep(asked, progress);
    redirect(asked.response, `${asked.path}/${step}`);
  }

  private async keep({ request, response }: Asked, progress: Progress): Promise<void> {
    await this.provider.interactionResult(request, response, { progress }, { mergeWithLastSubmission: false });
  }

  private finish({ request, response }: Asked, accountId: string, how: { acr: string; amr: string[] }): Promise<void> {
    return this.provider.interactionFinished(
      request,
      response,
      { login: { accountId, remember: true, ...how } },
      { mergeWithLastSubmission: false },
    );
  }
}

/** @param acrValues as in a request for a sign-in. */
export function wantsSecondFactor(acrValues: unknown): boolean {
  return typeof acrValues === 'string' && acrValues.split(' ').includes(SECOND_FACTOR_ACR);
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { location, 'cache-control': 'no-store' }).end();
}

function answer(response: ServerResponse, status: number, page: Page): void {
  response.writeHead(status, page.headers).end(page.html);
}
