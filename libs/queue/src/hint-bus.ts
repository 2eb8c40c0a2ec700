import type { Hint } from '@slipway/contracts/events';

/**
 * Signals other processes that something is new. Best effort on purpose: a hint may be lost or come twice, and never
 * carries what is not in the log.
 *
 * Contract, checked for every adapter by `describeHintBus` (hint-bus.contract.ts):
 * - a hint reaches every listener of every process, the publishing one included (`from` tells whose it is).
 * - hints of one process arrive in the order in which it published them.
 * - a delta longer than one message of the backend arrives in pieces, each at its own offset.
 * - a lost connection is made again, with growing delay up to 2 s; hints meanwhile are dropped, and neither side fails.
 * - each time that a process listens again after an outage, `missed` of its listeners is called.
 */
export interface HintBus {
  /** Never throws and never waits. */
  publish(hint: Hint): void;
  /**
   * Returns a function that ends the subscription. @param missed called when hints may have been lost: read everything
   * that they could concern. A listener that throws is logged and does not disturb the others.
   */
  subscribe(listener: (hint: Hint) => void, missed?: () => void): () => void;
  close(): Promise<void>;
}
