import { InternalClient } from '@slipway/auth/internal-client';
import { SecretBox } from '@slipway/auth/secret-box';
import {
  type CredentialQuestion,
  type CredentialTallyBatch,
  CredentialUseDecision,
  type CredentialUseQuestion,
  OpenedCredentials,
  type ReflectedCredential,
  RenewalAnswer,
  type RenewalOutcome,
  type RenewalQuestion,
  RotatedAnswer,
  type RotatedCredential,
} from '@slipway/contracts/credentials';
import {
  type EgressBodyBatch,
  type WorkspacePrints,
  WorkspacePrintsAnswer,
  type WorkspacePrintsQuestion,
} from '@slipway/contracts/sandboxes';

/** Of many values. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Asks app-server for values, which are sealed within its answers, and hears of changes. */
export class ControlClient extends InternalClient {
  private readonly box: SecretBox;

  /** @param url of app-server's internal port. @param secret CREDENTIAL_CONTROL_SECRET. */
  constructor(url: string, secret: string) {
    super({
      url,
      secret,
      purpose: 'slipway-credentials',
      changesPath: '/internal/credentials/v1/changes',
      maxAnswerBytes: MAX_ANSWER_BYTES,
    });
    this.box = new SecretBox(secret);
  }

  /** @throws Error when app-server cannot be reached, or its answer is not sealed for this question. */
  async open(question: CredentialQuestion): Promise<OpenedCredentials> {
    const { signed, answer } = await this.ask('/internal/credentials/v1/open', question);
    const text = this.box.decrypt(Buffer.from(answer, 'base64'), `opened:${signed}`);
    return OpenedCredentials.parse(JSON.parse(text));
  }

  /** Whether a request may get its credential; the same question again is the same request. @throws Error as `open`. */
  async use(question: CredentialUseQuestion): Promise<CredentialUseDecision> {
    const { answer } = await this.ask('/internal/credentials/v1/use', question);
    return CredentialUseDecision.parse(JSON.parse(answer));
  }

  /** Counts uses. @throws Error as `reflected`. */
  async tallies(batch: CredentialTallyBatch): Promise<void> {
    await this.ask('/internal/credentials/v1/tallies', batch);
  }

  /** An access token, or the lease to get one. @throws Error as `open`. */
  async renew(question: RenewalQuestion): Promise<RenewalAnswer> {
    const { signed, answer } = await this.ask('/internal/credentials/v1/renew', question);
    const text = this.box.decrypt(Buffer.from(answer, 'base64'), `renewal:${signed}`);
    return RenewalAnswer.parse(JSON.parse(text));
  }

  /** What came of a lease. @returns whether a token that was issued is kept. @throws Error as `reflected`. */
  async renewed(
    { refused: _, ...question }: RenewalQuestion,
    lease: string,
    outcome: RenewalOutcome,
  ): Promise<boolean> {
    const sealed = this.box.encrypt(JSON.stringify(outcome), `rotated:${lease}`).toString('base64');
    const body: RotatedCredential = { ...question, lease, sealed };
    const { answer } = await this.ask('/internal/credentials/v1/rotated', body);
    return RotatedAnswer.parse(JSON.parse(answer)).kept;
  }

  /** @throws Error when app-server cannot be reached, or does not take it. */
  async reflected(body: ReflectedCredential): Promise<void> {
    await this.ask('/internal/credentials/v1/reflected', body);
  }

  /** Fingerprints of the conversation's workspace. @throws Error as `open`. */
  async prints(question: WorkspacePrintsQuestion): Promise<WorkspacePrints | null> {
    const { answer } = await this.ask('/internal/credentials/v1/prints', question);
    return WorkspacePrintsAnswer.parse(JSON.parse(answer)).prints;
  }

  /** @throws Error as `reflected`. */
  async countBodies(batch: EgressBodyBatch): Promise<void> {
    await this.ask('/internal/credentials/v1/bodies', batch);
  }
}
