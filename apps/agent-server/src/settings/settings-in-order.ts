import type { AppliedSettings, ApplySettings, EarlierConfirmation, EarlierRunSettings } from '@slipway/contracts/agent';
import type { Conversation } from '../conversations/conversation.js';
import type { Conversations } from '../conversations/conversations.js';
import { refusedSettings, type SettingsChange, tryChange } from './agent-settings.js';

interface Newest {
  version: number;
  /** Of the aliases in `earlier-settings.routes.ts`. Both go in 0.2.0. */
  runSettings: number;
  confirmation: number;
}

interface Turns {
  readonly newest: Newest;
  last: Promise<unknown>;
}

/**
 * Applies settings to conversations, of one conversation one message after the other. A message that is older than one
 * before it changes nothing. Versions are kept in memory: messages for an earlier process are for an earlier start,
 * which `epoch` tells.
 */
export class SettingsInOrder {
  private readonly turns = new WeakMap<Conversation, Turns>();

  constructor(private readonly conversations: Conversations) {}

  /** @throws SlipwayError `ingest.stale-epoch`, `conversation.not-running`, `sandbox.disk-full`. */
  async apply(conversation: Conversation, request: ApplySettings): Promise<AppliedSettings> {
    const { settings, version, epoch, chosen, earlierVersions: earlier } = request;
    const change = changeOf(settings);
    if (request.dryRun)
      return {
        version: this.turnsOf(conversation).newest.version,
        refused: refusedSettings(await tryChange(conversation, change, 'check')),
      };
    return this.inTurn(conversation, async (newest) => {
      conversation.assertOwned(epoch);
      if (version < newest.version) return { version: newest.version, refused: [] };
      // Before the first change: if one fails, the sender repeats this version, and a late older one still changes
      // nothing.
      newest.version = version;
      if (earlier === undefined || earlier.confirmation >= newest.confirmation) {
        newest.confirmation = earlier?.confirmation ?? newest.confirmation;
        await this.conversations.applyConfirmation(conversation, settings.confirmation, chosen);
      }
      if (settings.model !== undefined) conversation.switchLlm(settings.model);
      if (earlier !== undefined && earlier.runSettings < newest.runSettings) return { version, refused: [] };
      newest.runSettings = earlier?.runSettings ?? newest.runSettings;
      return { version, refused: refusedSettings(await tryChange(conversation, change, 'apply')) };
    });
  }

  /** @throws SlipwayError as `apply`, and the first refusal: nothing is changed then. */
  applyEarlierRunSettings(
    conversation: Conversation,
    { version, epoch, ...values }: EarlierRunSettings,
  ): Promise<void> {
    return this.inTurn(conversation, async (newest) => {
      conversation.assertOwned(epoch);
      if (version !== undefined && version < newest.runSettings) return;
      await checkEarlierRunSettings(conversation, values);
      newest.runSettings = version ?? newest.runSettings;
      for (const { error } of await tryChange(conversation, earlierChangeOf(values), 'apply')) throw error;
    });
  }

  /** @throws SlipwayError as `apply`. */
  applyEarlierConfirmation(
    conversation: Conversation,
    { brake: organization, version, epoch, chosen, ...asked }: EarlierConfirmation,
  ): Promise<void> {
    return this.inTurn(conversation, async (newest) => {
      conversation.assertOwned(epoch);
      if (version < newest.confirmation) return;
      newest.confirmation = version;
      await this.conversations.applyConfirmation(conversation, { ...asked, organization }, chosen);
    });
  }

  private turnsOf(conversation: Conversation): Turns {
    const known = this.turns.get(conversation) ?? {
      newest: { version: -1, runSettings: -1, confirmation: -1 },
      last: Promise.resolve(),
    };
    this.turns.set(conversation, known);
    return known;
  }

  private inTurn<T>(conversation: Conversation, work: (newest: Newest) => Promise<T>): Promise<T> {
    const turns = this.turnsOf(conversation);
    const turn = turns.last.then(() => work(turns.newest));
    turns.last = turn.catch(() => {});
    return turn;
  }
}

function changeOf({ agentType, limits }: ApplySettings['settings']): SettingsChange {
  return { ...limits, agentType };
}

function earlierChangeOf({ agent_type, max_iterations, max_budget_per_task }: EarlierRunSettings): SettingsChange {
  return { maxIterations: max_iterations, maxBudgetUsd: max_budget_per_task, agentType: agent_type };
}

/** @throws SlipwayError the first refusal. */
export async function checkEarlierRunSettings(conversation: Conversation, values: EarlierRunSettings): Promise<void> {
  for (const { error } of await tryChange(conversation, earlierChangeOf(values), 'check')) throw error;
}
