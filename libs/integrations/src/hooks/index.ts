export {
  findHookConnection,
  findWebhookSecret,
  type HookConnection,
  repairHooks,
  type SealedSecret,
  settleSignature,
  wantHookJob,
} from './hooks.queries.js';
