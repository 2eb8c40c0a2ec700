import { InternalClient } from '@slipway/auth/internal-client';
import {
  EgressBytes,
  type EgressBytesQuestion,
  EgressDecision,
  type EgressQuestion,
  type EgressTallyBatch,
} from '@slipway/contracts/sandboxes';

const MAX_ANSWER_BYTES = 8 * 1024;

/** Asks app-server about connections, says what they carried, and hears of changes. */
export class ControlClient extends InternalClient {
  /** @param url of app-server's internal port. @param secret EGRESS_CONTROL_SECRET. */
  constructor(url: string, secret: string) {
    super({
      url,
      secret,
      purpose: 'slipway-egress-control',
      changesPath: '/internal/egress/v1/changes',
      maxAnswerBytes: MAX_ANSWER_BYTES,
    });
  }

  /** @throws Error when app-server cannot be reached, or answers with anything but a decision that it has signed. */
  async decide(question: EgressQuestion): Promise<EgressDecision> {
    const { answer } = await this.ask('/internal/egress/v1/decide', question);
    return EgressDecision.parse(JSON.parse(answer));
  }

  /** @throws Error when app-server has not said that the batch is counted; it may be, all the same. */
  async count(batch: EgressTallyBatch): Promise<void> {
    await this.ask('/internal/egress/v1/tallies', batch);
  }

  /** @throws Error when app-server cannot be reached, or answers with anything but what it has signed. */
  async bytes(question: EgressBytesQuestion): Promise<EgressBytes> {
    const { answer } = await this.ask('/internal/egress/v1/bytes', question);
    return EgressBytes.parse(JSON.parse(answer));
  }
}
