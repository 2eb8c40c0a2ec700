import { admin } from './admin.ts';
import { adminApiKeys } from './admin-api-keys.ts';
import { adminAudit } from './admin-audit.ts';
import { adminBudgets } from './admin-budgets.ts';
import { adminCredentials } from './admin-credentials.ts';
import { adminDanger } from './admin-danger.ts';
import { adminIntegrations } from './admin-integrations.ts';
import { adminMcp } from './admin-mcp.ts';
import { adminMembers } from './admin-members.ts';
import { adminModels } from './admin-models.ts';
import { adminNetwork } from './admin-network.ts';
import { adminRoles } from './admin-roles.ts';
import { adminSandboxes } from './admin-sandboxes.ts';
import { adminSecrets } from './admin-secrets.ts';
import { adminSecurity } from './admin-security.ts';
import { adminSettings } from './admin-settings.ts';
import { adminStorage } from './admin-storage.ts';
import { adminUsage } from './admin-usage.ts';
import { analytics } from './analytics.ts';
import { app } from './app.ts';
import { approval } from './approval.ts';
import { attachments } from './attachments.ts';
import { auditActions } from './audit-actions.ts';
import { auditNouns } from './audit-nouns.ts';
import { beside } from './beside.ts';
import { browserView } from './browser-view.ts';
import { changes } from './changes.ts';
import { commands } from './commands.ts';
import { common } from './common.ts';
import { conversation } from './conversation.ts';
import { conversationEdits } from './conversation-edits.ts';
import { conversations } from './conversations.ts';
import { deskPage } from './desk-page.ts';
import { device } from './device.ts';
import { draft } from './draft.ts';
import { egress } from './egress.ts';
import { files } from './files.ts';
import { form } from './form.ts';
import { frame } from './frame.ts';
import { gettingStarted } from './getting-started.ts';
import { home } from './home.ts';
import { invite } from './invite.ts';
import { list } from './list.ts';
import { live } from './live.ts';
import { mention } from './mention.ts';
import { newOrg } from './new-org.ts';
import { permissions } from './permissions.ts';
import { ports } from './ports.ts';
import { problems } from './problems.ts';
import { promptAndTools } from './prompt-and-tools.ts';
import { promptLog } from './prompt-log.ts';
import { prompts } from './prompts.ts';
import { pullRequest } from './pull-request.ts';
import { reading } from './reading.ts';
import { reviewPage } from './review-page.ts';
import { runtime } from './runtime.ts';
import { session } from './session.ts';
import { settingsConnections } from './settings-connections.ts';
import { settingsKeys } from './settings-keys.ts';
import { settingsLinkedAccounts } from './settings-linked-accounts.ts';
import { settingsProfile } from './settings-profile.ts';
import { settingsSessions } from './settings-sessions.ts';
import { terminal } from './terminal.ts';
import { terms } from './terms.ts';
import { trace } from './trace.ts';
import { traffic } from './traffic.ts';
import { undo } from './undo.ts';

export const en = {
  admin,
  adminApiKeys,
  adminAudit,
  adminBudgets,
  adminCredentials,
  adminDanger,
  adminIntegrations,
  adminMcp,
  adminMembers,
  adminModels,
  adminNetwork,
  adminRoles,
  adminSandboxes,
  adminSecrets,
  adminSecurity,
  adminSettings,
  adminStorage,
  adminUsage,
  analytics,
  app,
  approval,
  beside,
  attachments,
  auditActions,
  auditNouns,
  browserView,
  changes,
  commands,
  common,
  conversation,
  conversationEdits,
  conversations,
  deskPage,
  device,
  draft,
  egress,
  files,
  form,
  frame,
  gettingStarted,
  home,
  invite,
  list,
  live,
  mention,
  newOrg,
  permissions,
  ports,
  problems,
  promptAndTools,
  promptLog,
  prompts,
  pullRequest,
  reviewPage,
  reading,
  runtime,
  session,
  settingsConnections,
  settingsKeys,
  settingsLinkedAccounts,
  settingsProfile,
  settingsSessions,
  terminal,
  terms,
  trace,
  traffic,
  undo,
} as const;
