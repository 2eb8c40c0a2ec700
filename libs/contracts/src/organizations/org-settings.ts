import { z } from 'zod';
import { ConfirmationMode } from '../conversations/confirmation.js';
import { EnvironmentName } from '../conversations/conversations.js';
import { MAX_PROMPT_LOG_DAYS } from '../models/prompt-log.js';
import { MAX_EGRESS_MB } from '../sandboxes/egress-budget.js';
import { EGRESS_UNKNOWN } from '../sandboxes/egress-rules.js';
import { MAX_PACKAGE_AGE_DAYS, PackageHosts } from '../sandboxes/new-packages.js';

/** Ten years. */
export const MAX_CHECKPOINT_DAYS = 3_650;

/** What an admin decides for the whole organization. Every key is read by something today; its comment says by what. */
export const OrgSettingValues = z.strictObject({
  /**
   * Model of a conversation that names none, by its id of `GET …/models`; `null`, or one that is not offered any more:
   * the default profile, else the gateway's own default. Read when a conversation is made.
   */
  defaultModel: z.string().min(1).max(200).nullable(),
  /** Environment of a conversation that names none: which secrets it gets. Read when a conversation is made. */
  defaultEnvironment: EnvironmentName.nullable(),
  /**
   * Steps that an agent may take for one message; `null`, or more than the installation's MAX_ITERATIONS: that. Read at
   * each start of a conversation.
   */
  maxIterations: z.int().min(1).max(100_000).nullable(),
  /**
   * May members bring secrets of their own and give them to conversations? When false, those that exist are kept and
   * not handed out. Read at each start, and when one is made.
   */
  memberSecrets: z.boolean(),
  /**
   * Minimum of confirmations; a conversation may ask more often. Read at each start of a conversation, and when
   * somebody changes a conversation's own mode.
   */
  confirmation: ConfirmationMode,
  /**
   * Whether the approver must be another user than the conversation's owner and all who steered it since the last
   * approved action. Read at each answer.
   */
  fourEyes: z.boolean(),
  /**
   * What becomes of a sandbox's connection to a host that neither the installation's list nor a rule is about: it is
   * refused, a user is asked, or it is let through and recorded (`observe`, not beside `brokered-only`). For sandboxes
   * behind egress-proxy. Read at each decision.
   */
  egressUnknown: z.enum(EGRESS_UNKNOWN),
  /**
   * What an answer to a sandbox's request for a host does with an agent that is idle and whose sandbox runs: the agent
   * reads of it with the next message (`wait`), or goes on at once (`start`). Read at each answer.
   */
  egressAnswered: z.enum(['wait', 'start']),
  /**
   * What the sandbox of one conversation may send through egress-proxy on one day (UTC): to all hosts together, and to
   * the hosts of one registrable domain. Megabytes (1,048,576 bytes); `null`: any number. Read at each reservation.
   */
  egressDailyMb: z.int().min(1).max(MAX_EGRESS_MB).nullable(),
  egressDailyMbPerHost: z.int().min(1).max(MAX_EGRESS_MB).nullable(),
  /**
   * Files of `packageHosts` that were published less than so many days ago do not reach a sandbox behind egress-proxy;
   * `null`: all do. Needs a credential-broker. Read at each connection and each answer.
   */
  packageMinAgeDays: z.int().min(1).max(MAX_PACKAGE_AGE_DAYS).nullable(),
  packageHosts: PackageHosts,
  /**
   * Whether sandboxes are given values of secrets. `brokered-only`: none is; agents work with brokered credentials
   * alone. Read at each start of a sandbox.
   */
  secretsInSandbox: z.enum(['allowed', 'brokered-only']),
  /**
   * Days for which llm-gateway keeps prompts and answers, secrets masked; `null`: none are kept, and stored ones are
   * deleted. For owners to change (`prompt-log:write`). Reaches the gateway within ten seconds.
   */
  promptLogDays: z.int().min(1).max(MAX_PROMPT_LOG_DAYS).nullable(),
  /**
   * May analytics events of the organization be sent to the service that the installation names? Only of users who
   * allow it themselves (`me.settings`). When it becomes false, what waits is deleted in the same transaction. Read
   * when an event is made and when it is sent.
   */
  analytics: z.boolean(),
  /**
   * Days for which checkpoints of a conversation's files are kept after its last activity. The newest, and those that
   * are named, pinned or forked from, are kept as long as the conversation. Read by each sweep.
   */
  checkpointDays: z.int().min(1).max(MAX_CHECKPOINT_DAYS),
});
export type OrgSettingValues = z.infer<typeof OrgSettingValues>;

/** What holds where nothing was set. */
export const DEFAULT_ORG_SETTINGS: OrgSettingValues = {
  defaultModel: null,
  defaultEnvironment: null,
  maxIterations: null,
  memberSecrets: true,
  confirmation: 'never',
  fourEyes: false,
  egressUnknown: 'ask',
  egressAnswered: 'wait',
  egressDailyMb: null,
  egressDailyMbPerHost: null,
  packageMinAgeDays: null,
  packageHosts: [],
  secretsInSandbox: 'allowed',
  promptLogDays: null,
  analytics: false,
  checkpointDays: 30,
};

/** `GET …/settings`. `version` counts changes and is the ETag too. */
export const OrgSettings = OrgSettingValues.extend({ version: z.int().positive() });
export type OrgSettings = z.infer<typeof OrgSettings>;

/** `PATCH …/settings`: what is left out stays. */
export const UpdateOrgSettings = OrgSettingValues.partial();
export type UpdateOrgSettings = z.infer<typeof UpdateOrgSettings>;
