export { DEMO_MODEL } from './demo-model.js';
export {
  BudgetStops,
  CHARGE_PASS_CALLS,
  CHARGE_PASS_SECONDS,
  ChargePass,
  ConversationSpending,
  DeleteKeys,
  DeleteTeams,
  DeleteUsers,
  GatewayDeployment,
  GatewayDeploymentList,
  GatewayDeploymentTest,
  GatewayModel,
  GatewayModelList,
  GeneratedKey,
  GenerateKey,
  gatewayModelOf,
  LedgerPage,
  LedgerRow,
  MANAGED_PREFIXES,
  MAX_LEDGER_ROWS,
  OrgLimits,
  OwnProviders,
  PROVIDER_IDS,
  type ProviderId,
  PutTeam,
  PutUser,
  UpdateKey,
  UpdateTeamMember,
} from './llm-gateway.js';
export { CreateLlmProfile, LlmProfile, LlmProfileList, MAX_LLM_PROFILES, PROFILE_PREFIX, profileNameOf, UpdateLlmProfile } from './llm-profiles.js';
export { ModelDeployment, ModelDeploymentList, ModelDeploymentTest } from './model-health.js';
export { LoggedPrompt, MAX_PROMPT_LOG_DAYS, PromptLogMode, PromptLogQuery, PromptPage, PromptPolicies } from './prompt-log.js';
