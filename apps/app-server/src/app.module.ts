import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { PROVIDERS, type Provider } from '@slipway/integrations';
import { AccountModule } from './account/account.module.js';
import { AnalyticsModule } from './analytics/analytics.module.js';
import { ApiKeysModule } from './api-keys/api-keys.module.js';
import { AuditModule } from './audit/audit.module.js';
import { BudgetsModule } from './budgets/budgets.module.js';
import { CallbacksModule } from './callbacks/callbacks.module.js';
import { ConfirmationModule } from './confirmation/confirmation.module.js';
import { ConversationsModule } from './conversations/conversations.module.js';
import { DeviceModule } from './device/device.module.js';
import { DomainsModule } from './domains/domains.module.js';
import { EventsModule } from './events/events.module.js';
import { GitRelayModule } from './git-relay/git-relay.module.js';
import { HttpModule } from './http/http.module.js';
import { IngestModule } from './ingest/ingest.module.js';
import { IntegrationsModule } from './integrations/integrations.module.js';
import { PressesModule } from './integrations/presses/presses.module.js';
import { InvitationsModule } from './invitations/invitations.module.js';
import { JobsModule } from './jobs/jobs.module.js';
import { LlmProfilesModule } from './llm-profiles/llm-profiles.module.js';
import { MailModule } from './mail/mail.module.js';
import { McpServersModule } from './mcp-servers/mcp-servers.module.js';
import { MeModule } from './me/me.module.js';
import { MembersModule } from './members/members.module.js';
import { ModelHealthModule } from './model-health/model-health.module.js';
import { OpenHandsModule } from './openhands/openhands.module.js';
import { OpenHandsSandboxesModule } from './openhands-sandboxes/openhands-sandboxes.module.js';
import { OrgSettingsModule } from './org-settings/org-settings.module.js';
import { OrgsModule } from './orgs/orgs.module.js';
import { OutcomesModule } from './outcomes/outcomes.module.js';
import { type Platform, PlatformModule } from './platform/platform.module.js';
import { PromptLogModule } from './prompt-log/prompt-log.module.js';
import { PullRequestsModule } from './pull-requests/pull-requests.module.js';
import { RealtimeModule } from './realtime/realtime.module.js';
import { ReferenceModule } from './reference/reference.module.js';
import { RunSettingsModule } from './run-settings/run-settings.module.js';
import { SandboxAccessModule } from './sandbox-access/sandbox-access.module.js';
import { SandboxesModule } from './sandboxes/sandboxes.module.js';
import { SecretsModule } from './secrets/secrets.module.js';
import { SecurityModule } from './security/security.module.js';
import { ServiceAccountsModule } from './service-accounts/service-accounts.module.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { SignInModule } from './sign-in/sign-in.module.js';
import { StorageModule } from './storage/storage.module.js';
import { TraceModule } from './trace/trace.module.js';
import { UsageModule } from './usage/usage.module.js';

/** A feature is a folder and a line here. @param providers what can be connected. */
export const featuresWith = (providers: readonly Provider[]): ReadonlyArray<Type | DynamicModule> => [
  SignInModule,
  MeModule,
  AccountModule,
  SessionsModule,
  JobsModule,
  EventsModule,
  IngestModule,
  ConversationsModule,
  ConfirmationModule,
  RunSettingsModule,
  SandboxAccessModule,
  AuditModule,
  MailModule,
  OrgsModule,
  MembersModule,
  IntegrationsModule.register(providers),
  PressesModule,
  GitRelayModule,
  CallbacksModule,
  PullRequestsModule,
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
