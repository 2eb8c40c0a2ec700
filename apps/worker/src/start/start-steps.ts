import type { AgentClient } from '@slipway/agent-client';
import { inSpan } from '@slipway/telemetry';
import type { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import type { ConversationRow } from '../conversations/conversation.queries.js';
import type { HeldConversation } from '../conversations/held-conversation.js';
import type { ConversationModels } from './conversation-models.js';
import type { ConversationStep } from './conversation-step.js';
import type { SandboxStep } from './sandbox-step.js';
import type { StartAttempt } from './start-attempt.js';
import { repositoryName, type WorkspacePlan } from './workspace-script.js';
import type { WorkspaceStep } from './workspace-step.js';

/**
 * The steps of one start, in order. Each may be repeated: a worker that takes an attempt over runs the unfinished one
 * again.
 */
export class StartSteps {
  constructor(
    private readonly sandbox: SandboxStep,
    private readonly workspace: WorkspaceStep,
    private readonly conversation: ConversationStep,
    private readonly models: ConversationModels,
    private readonly gateway: LlmGatewayClient,
  ) {}

  /** The agent-server that the row names, or `null`. */
  agentOf(row: ConversationRow): AgentClient | null {
    return this.sandbox.agentOf(row);
  }

  /** As `SandboxStep.whyAnew`. */
  whyAnew(held: HeldConversation): Promise<string | undefined> {
    return this.sandbox.whyAnew(held);
  }

  /** The sandbox's way to the models ends; the next start makes another. */
  endKey(held: HeldConversation): Promise<void> {
    return this.gateway.deleteKeys(held.id, held.signal);
  }

  async run(held: HeldConversation, attempt: StartAttempt, signal: AbortSignal): Promise<void> {
    // The key is asked for while the workspace is made; a failure waits until it is needed.
    const model = this.models.access(held.row, signal);
    model.catch(() => {});
    const { agent, root, shown } = await inSpan('start sandbox', {}, () => this.sandbox.run(held, attempt, signal));
    const plan: WorkspacePlan = {
      directory: `${root.replace(/\/+$/, '')}/${held.row.repository === null ? 'project' : repositoryName(held.row.repository)}`,
      repository: held.row.repository,
      branch: held.row.branch,
    };
    const start = { held, attempt, agent, plan };
    const made = await inSpan('start workspace', {}, () => this.workspace.run(start, shown, signal));
    await inSpan('start agent', {}, () => this.conversation.run(start, made, model, signal));
    await attempt.ready();
  }
}
