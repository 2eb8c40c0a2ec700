import type { ConversationQueue, QueueName, QueuePayload } from '@slipway/contracts/operate';
import type { Queue } from '@slipway/queue';
import type { CheckpointJob } from './checkpoints/checkpoint-job.js';
import type { ConversationDeletion } from './conversations/conversation-deletion.js';
import { LockBusy } from './conversations/conversation-locks.js';
import type { ConversationHolder, HeldConversation } from './conversations/held-conversation.js';
import type { IntegrationAnswer } from './integrations/answers/integration-answer.js';
import type { CredentialRevocation } from './integrations/credentials/credential-revocation.js';
import type { HookJob } from './integrations/hooks/hook-job.js';
import type { HookSelection } from './integrations/hooks/hook-selection.js';
import type { IntegrationDelivery } from './integrations/integration-delivery.js';
import type { DeliveryRecovery } from './integrations/recovery/delivery-recovery.js';
import type { OrgDeletion } from './orgs/org-deletion.js';
import type { OrgPauses } from './orgs/org-pauses.js';
import type { PullRequestOutcomeJob } from './outcomes/pull-request-outcome-job.js';
import type { ConversationPause } from './pause/pause.js';
import type { SnapshotJob } from './pause/snapshot-job.js';
import type { PullRequestJob } from './pull-requests/pull-request-job.js';
import type { OrgSettingsJob } from './settings/org-settings-job.js';
import type { StartSaga } from './start/start.saga.js';
import type { WebhookSending } from './webhooks/webhook-sending.js';

/** Jobs at a time in one worker. They wait for others nearly all the time. */
const CONCURRENCY: Record<Exclude<QueueName, 'integration-press'>, number> = {
  'conversation-start': 64,
  'conversation-deliver': 64,
  'conversation-pause': 16,
  'conversation-snapshot': 8,
  'conversation-checkpoint': 8,
  'conversation-delete': 4,
  'member-removed': 4,
  'org-closing': 4,
  'org-settings': 4,
  'org-brake': 4,
  'integration-delivery': 16,
  'integration-answer': 8,
  'integration-notice': 4,
  'integration-recovery': 4,
  'integration-hook': 4,
  'integration-hooks': 2,
  'credential-revocation': 4,
  'webhook-message': 16,
  'pull-request': 4,
  'pull-request-outcome': 2,
  'org-delete': 1,
};
/** When another job works on the conversation, this one comes again. Milliseconds. */
const BUSY_MS = 1_000;

/** Which job does what. A job that finds the conversation held by another comes again instead of failing. */
export function handleJobs(
  queue: Queue,
  holder: ConversationHolder,
  jobs: {
    saga: StartSaga;
    /** Of deleted conversations too. */
    pauseHolder: ConversationHolder;
    pause: ConversationPause;
    snapshots: SnapshotJob;
    checkpoints: CheckpointJob;
    orgPauses: OrgPauses;
    orgSettings: OrgSettingsJob;
    orgDeletion: OrgDeletion;
    deliveries: IntegrationDelivery;
    answers: IntegrationAnswer;
    recovery: DeliveryRecovery;
    hooks: HookJob;
    hookSelection: HookSelection;
    revocations: CredentialRevocation;
    webhooks: WebhookSending;
    deletion: ConversationDeletion;
    pullRequests: PullRequestJob;
    pullRequestOutcomes: PullRequestOutcomeJob;
  },
): void {
  const held = <Q extends ConversationQueue>(
    name: Q,
    work: (held: HeldConversation) => Promise<void>,
    by = holder,
  ): void => handleAlone(queue, name, (payload: QueuePayload<Q>, signal) => by.hold(payload, signal, work));
  held('conversation-start', (conversation) => jobs.saga.bringUp(conversation));
  held('conversation-deliver', (conversation) => jobs.saga.bringUp(conversation));
  held('conversation-pause', (conversation) => jobs.pause.pause(conversation), jobs.pauseHolder);
  queue.handle('conversation-snapshot', (payload, signal) => jobs.snapshots.run(payload, signal), {
    concurrency: CONCURRENCY['conversation-snapshot'],
  });
  queue.handle('conversation-checkpoint', (payload, signal) => jobs.checkpoints.run(payload, signal), {
    concurrency: CONCURRENCY['conversation-checkpoint'],
  });
  handleAlone(queue, 'conversation-delete', (payload, signal) => jobs.deletion.run(payload, signal));
  queue.handle('member-removed', (payload, signal) => jobs.orgPauses.ofMember(payload, signal), {
    concurrency: CONCURRENCY['member-removed'],
  });
  queue.handle('org-closing', (payload, signal) => jobs.orgPauses.ofOrg(payload, signal), {
    concurrency: CONCURRENCY['org-closing'],
  });
  // `org-brake` is what an app-server of the release before writes; it goes in 0.2.0.
  for (const name of ['org-settings', 'org-brake'] as const)
    queue.handle(name, (payload, signal) => jobs.orgSettings.enqueueAll(name, payload, signal), {
      concurrency: CONCURRENCY[name],
    });
  queue.handle('integration-delivery', (payload, signal) => jobs.deliveries.run(payload, signal), {
    concurrency: CONCURRENCY['integration-delivery'],
  });
  queue.handle('integration-answer', async (payload, signal) => void (await jobs.answers.run(payload, signal)), {
    concurrency: CONCURRENCY['integration-answer'],
  });
  queue.handle('integration-notice', async (payload, signal) => void (await jobs.answers.runNotice(payload, signal)), {
    concurrency: CONCURRENCY['integration-notice'],
  });
  queue.handle('integration-recovery', (payload, signal) => jobs.recovery.run(payload, signal), {
    concurrency: CONCURRENCY['integration-recovery'],
  });
  queue.handle('integration-hook', (payload, signal) => jobs.hooks.run(payload, signal), {
    concurrency: CONCURRENCY['integration-hook'],
  });
  queue.handle('integration-hooks', (payload, signal) => jobs.hookSelection.run(payload, signal), {
    concurrency: CONCURRENCY['integration-hooks'],
  });
  queue.handle('credential-revocation', async (payload) => void (await jobs.revocations.run(payload)), {
    concurrency: CONCURRENCY['credential-revocation'],
  });
  queue.handle('webhook-message', async (payload, signal) => void (await jobs.webhooks.run(payload, signal)), {
    concurrency: CONCURRENCY['webhook-message'],
  });
  queue.handle('pull-request', (payload, signal) => jobs.pullRequests.run(payload, signal), {
    concurrency: CONCURRENCY['pull-request'],
  });
  queue.handle('pull-request-outcome', (payload, signal) => jobs.pullRequestOutcomes.run(payload, signal), {
    concurrency: CONCURRENCY['pull-request-outcome'],
  });
  queue.handle('org-delete', (payload, signal) => jobs.orgDeletion.run(payload, signal), {
    concurrency: CONCURRENCY['org-delete'],
  });
}

/** For jobs that work on a conversation alone: one that finds it held comes again. */
function handleAlone<Q extends ConversationQueue>(
  queue: Queue,
  name: Q,
  run: (payload: QueuePayload<Q>, signal: AbortSignal) => Promise<void>,
): void {
  queue.handle(
    name,
    async (payload: QueuePayload<Q>, signal) => {
      try {
        await run(payload, signal);
      } catch (error) {
        if (!(error instanceof LockBusy)) throw error;
        await queue.add(name, payload, { key: payload.conversationId, delayMs: BUSY_MS });
      }
    },
    { concurrency: CONCURRENCY[name] },
  );
}
