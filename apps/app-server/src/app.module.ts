import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { PROVIDERS, type Provider } from '@slipway/integrations';
import { LlmProfilesModule } from './agents/llm-profiles/llm-profiles.module.js';
import { McpServersModule } from './agents/mcp-servers/mcp-servers.module.js';
import { ModelHealthModule } from './agents/model-health/model-health.module.js';
import { PromptLogModule } from './agents/prompt-log/prompt-log.module.js';
import { SecretsModule } from './agents/secrets/secrets.module.js';
import { AuditModule } from './audit/audit.module.js';
import { CheckpointsModule } from './conversations/checkpoints/checkpoints.module.js';
import { ConfirmationModule } from './conversations/confirmation/confirmation.module.js';
import { ConversationsModule } from './conversations/conversations.module.js';
import { DeskModule } from './conversations/desk/desk.module.js';
import { ForksModule } from './conversations/forks/forks.module.js';
import { PromptsModule } from './conversations/prompts/prompts.module.js';
import { PullRequestsModule } from './conversations/pull-requests/pull-requests.module.js';
import { ReviewModule } from './conversations/review/review.module.js';
import { RunSettingsModule } from './conversations/run-settings/run-settings.module.js';
import { TraceModule } from './conversations/trace/trace.module.js';
import { HttpModule } from './http/http.module.js';
import { AccountModule } from './identity/account/account.module.js';
import { ApiKeysModule } from './identity/api-keys/api-keys.module.js';
import { DeviceModule } from './identity/device/device.module.js';
import { MeModule } from './identity/me/me.module.js';
import { ServiceAccountsModule } from './identity/service-accounts/service-accounts.module.js';
import { SessionsModule } from './identity/sessions/sessions.module.js';
import { SignInModule } from './identity/sign-in/sign-in.module.js';
import { CallbacksModule } from './integrations/callbacks/callbacks.module.js';
import { IntegrationsModule } from './integrations/integrations.module.js';
import { PressesModule } from './integrations/presses/presses.module.js';
import { EventsModule } from './log/events/events.module.js';
import { IngestModule } from './log/ingest/ingest.module.js';
import { LookupModule } from './log/lookup/lookup.module.js';
import { RealtimeModule } from './log/realtime/realtime.module.js';
import { OpenHandsModule } from './openhands/openhands.module.js';
import { OpenHandsSandboxesModule } from './openhands/sandboxes/openhands-sandboxes.module.js';
import { AnalyticsModule } from './operate/analytics/analytics.module.js';
import { ReferenceModule } from './operate/reference/reference.module.js';
import { DomainsModule } from './organizations/domains/domains.module.js';
import { InvitationsModule } from './organizations/invitations/invitations.module.js';
import { MailModule } from './organizations/mail/mail.module.js';
import { MembersModule } from './organizations/members/members.module.js';
import { OrgSettingsModule } from './organizations/org-settings/org-settings.module.js';
import { OrgsModule } from './organizations/orgs/orgs.module.js';
import { SecurityModule } from './organizations/security/security.module.js';
import { JobsModule } from './platform/jobs.module.js';
import { type Platform, PlatformModule } from './platform/platform.module.js';
import { SandboxAccessModule } from './sandboxes/access/sandbox-access.module.js';
import { CredentialsModule } from './sandboxes/credentials/credentials.module.js';
import { EgressModule } from './sandboxes/egress/egress.module.js';
import { GitRelayModule } from './sandboxes/git-relay/git-relay.module.js';
import { SandboxesModule } from './sandboxes/sandboxes.module.js';
import { StorageModule } from './sandboxes/storage/storage.module.js';
import { BudgetsModule } from './spending/budgets/budgets.module.js';
import { OutcomesModule } from './spending/outcomes/outcomes.module.js';
import { UsageModule } from './spending/usage/usage.module.js';

/** A feature is a folder and a line here. @param providers what can be connected. */
export const featuresWith = (providers: readonly Provider[]): ReadonlyArray<Type | DynamicModule> => [
  SignInModule,
  MeModule,
  AccountModule,
  SessionsModule,
  JobsModule,
  EventsModule,
  LookupModule,
  IngestModule,
  ConversationsModule,
  ConfirmationModule,
  DeskModule,
  CheckpointsModule,
  ForksModule,
  PromptsModule,
  RunSettingsModule,
  SandboxAccessModule,
  EgressModule,
  CredentialsModule,
  AuditModule,
  MailModule,
  OrgsModule,
  MembersModule,
  IntegrationsModule.register(providers),
  PressesModule,
  GitRelayModule,
  CallbacksModule,
  PullRequestsModule,
  ReviewModule,
  InvitationsModule,
  DomainsModule.register(),
  SecurityModule,
  ApiKeysModule,
  OpenHandsModule,
  OpenHandsSandboxesModule,
  ServiceAccountsModule,
  DeviceModule,
  SecretsModule,
  OrgSettingsModule,
  LlmProfilesModule,
  McpServersModule,
  ModelHealthModule,
  PromptLogModule,
  UsageModule,
  TraceModule,
  OutcomesModule,
  AnalyticsModule,
  BudgetsModule,
  StorageModule,
  SandboxesModule,
  ReferenceModule,
  RealtimeModule,
];
export const FEATURES = featuresWith(Object.values(PROVIDERS));

@Module({})
export class AppModule {
  static register(platform: Platform, features: ReadonlyArray<Type | DynamicModule>): DynamicModule {
    return { module: AppModule, imports: [PlatformModule.register(platform), HttpModule, ...features] };
  }
}
