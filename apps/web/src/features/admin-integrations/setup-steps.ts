import type { MessageKey, Translate } from '../../messages/translate.ts';

/**
 * Where the secret comes from that a provider signs its deliveries by. `theirs-first`: it is known before the address
 * is entered there; `theirs-after`: only after.
 */
export type SecretSource = 'ours' | 'theirs-first' | 'theirs-after';

/** One way to connect, as an admin walks it. */
export interface SetupKind<Text = string> {
  readonly kind: string;
  readonly label: Text;
  /** Where its secret is another than that of the provider's other kinds. */
  readonly secretName?: Text;
  readonly secretHint?: Text;
  /** What to do at the provider, in order. */
  readonly steps: readonly Text[];
}

interface SetupGuide<Text = string> {
  readonly secret: SecretSource;
  /** As the provider calls it. */
  readonly secretName: Text;
  /** Where the provider shows its own secret; of `ours` there is nothing to find. */
  readonly secretHint?: Text;
  /** What the access token must be allowed. */
  readonly tokenHint?: Text;
  /** Where an OAuth application is registered, by which users link their accounts. */
  readonly oauthHint?: Text;
  /** Where the provider's side is made in one step. */
  readonly app?: { readonly label: Text; readonly href: string; readonly hint: Text };
  /** Those that can be set up by hand, the usual first. */
  readonly kinds: ReadonlyArray<SetupKind<Text>>;
}

/** What the app of a workspace may do. The addresses of a connection are entered once there is one. */
const SLACK_MANIFEST = {
  display_information: { name: 'Slipway' },
  features: { bot_user: { display_name: 'slipway', always_online: true } },
  oauth_config: {
    scopes: {
      bot: [
        'app_mentions:read',
        'chat:write',
        'reactions:write',
        'channels:history',
        'groups:history',
        'im:history',
        'assistant:write',
      ],
      user: ['openid', 'profile'],
    },
  },
  settings: { org_deploy_enabled: false, socket_mode_enabled: false, token_rotation_enabled: false },
};

const GUIDES: Readonly<Record<string, SetupGuide<MessageKey>>> = {
  github: {
    secret: 'ours',
    secretName: 'adminIntegrations.webhookSecret',
    tokenHint: 'adminIntegrations.readsRepositoriesAndTheirMembers',
    oauthHint: 'adminIntegrations.inTheSettingsOfThe',
    kinds: [
      {
        kind: 'repository-webhook',
        label: 'adminIntegrations.webhookOfARepositoryOr',
        steps: [
          'adminIntegrations.inTheSettingsOfTheRepository',
          'adminIntegrations.enterTheAddressAsPayload',
          'adminIntegrations.chooseIndividualEventsIssuesIssue',
          'adminIntegrations.saveItGithubSendsA',
        ],
      },
      {
        kind: 'app',
        label: 'adminIntegrations.yourOwnGithubApp',
        steps: [
          'adminIntegrations.inTheSettingsOfTheOrganization',
          'adminIntegrations.enterTheAddressAsWebhook',
          'adminIntegrations.giveItReadAccessTo',
          'adminIntegrations.createItAndInstallIt',
        ],
      },
    ],
  },
  gitlab: {
    secret: 'ours',
    secretName: 'adminIntegrations.signingToken',
    oauthHint: 'adminIntegrations.inTheSettingsOfTheGroup',
    kinds: [
      {
        kind: 'access-token',
        label: 'adminIntegrations.webhookWithASigningToken',
        steps: [
          'adminIntegrations.inTheSettingsOfTheProject',
          'adminIntegrations.enterTheAddressAsUrl',
          'adminIntegrations.chooseTheTriggersIssuesEvents',
          'adminIntegrations.saveItAndSendA',
        ],
      },
      {
        kind: 'oauth-token',
        label: 'adminIntegrations.webhookWithASecretToken',
        steps: [
          'adminIntegrations.inTheSettingsOfTheProject',
          'adminIntegrations.enterTheAddressAsUrlAnd',
          'adminIntegrations.chooseTheTriggersIssuesEvents',
          'adminIntegrations.saveItAndSendA',
        ],
      },
    ],
  },
  gitea: {
    secret: 'ours',
    secretName: 'common.secret',
    tokenHint: 'adminIntegrations.withWriteRepositoryAndWrite',
    oauthHint: 'adminIntegrations.inYourSettingsOrThe',
    kinds: [
      {
        kind: 'token',
        label: 'adminIntegrations.webhookAndAccessToken',
        steps: [
          'adminIntegrations.inTheSettingsOfTheRepositoryOr',
          'adminIntegrations.enterTheAddressAsTarget',
          'adminIntegrations.chooseCustomEventsAllOf',
          'adminIntegrations.saveItAndChooseTest',
        ],
      },
    ],
  },
  slack: {
    secret: 'theirs-first',
    secretName: 'adminIntegrations.signingSecret',
    secretHint: 'adminIntegrations.inSlackOpenTheApp',
    app: {
      label: 'adminIntegrations.createTheSlackApp',
      href: `https://api.slack.com/apps?${new URLSearchParams({ new_app: '1', manifest_json: JSON.stringify(SLACK_MANIFEST) })}`,
      hint: 'adminIntegrations.fromAManifestWithThe',
    },
    tokenHint: 'adminIntegrations.theBotTokenOfThe',
    oauthHint: 'adminIntegrations.openTheAppAtApi',
    kinds: [
      {
        kind: 'app',
        label: 'adminIntegrations.slackAppOfYourWorkspace',
        steps: [
          'adminIntegrations.atApiSlackComOpen',
          'adminIntegrations.enterTheAddressAsRequest',
          'adminIntegrations.subscribeToTheBotEvents',
          'adminIntegrations.underInteractivityShortcutsEnableInteractivity',
          'adminIntegrations.installTheAppToThe',
        ],
      },
      {
        kind: 'socket',
        label: 'adminIntegrations.socketModeSlackCannotReach',
        secretName: 'adminIntegrations.appLevelToken',
        secretHint: 'adminIntegrations.inSlackOpenTheAppThen',
        steps: [
          'adminIntegrations.atApiSlackComOpenThe',
          'adminIntegrations.underEventSubscriptionsEnableEvents',
          'adminIntegrations.underInteractivityShortcutsEnableInteractivity2',
          'adminIntegrations.installTheAppToTheWorkspace',
        ],
      },
    ],
  },
  jira: {
    secret: 'ours',
    secretName: 'common.secret',
    tokenHint: 'adminIntegrations.fromADedicatedAccountMail',
    oauthHint: 'adminIntegrations.cloudAtDeveloperAtlassianCom',
    kinds: [
      {
        kind: 'service-account',
        label: 'adminIntegrations.webhookCreatedByAnAdministrator',
        steps: [
          'adminIntegrations.asAJiraAdministratorOpen',
          'adminIntegrations.enterTheAddressAsUrlAndThe',
          'adminIntegrations.chooseTheEventsIssueCreated',
          'adminIntegrations.createItAndCommentOn',
        ],
      },
      {
        kind: 'oauth',
        label: 'adminIntegrations.oauth20AppCloud',
        steps: [
          'adminIntegrations.atDeveloperAtlassianComCreate',
          'adminIntegrations.enterItsClientIdAnd',
          'adminIntegrations.slipwayCreatesTheWebhookWithin',
        ],
      },
      {
        kind: 'data-center',
        label: 'adminIntegrations.webhookOfJiraDataCenter',
        steps: [
          'adminIntegrations.asAJiraAdministratorOpen',
          'adminIntegrations.enterTheAddressAsUrlAndTheSecret',
          'adminIntegrations.chooseTheEventsIssueCreatedIssue',
          'adminIntegrations.createItAndCommentOn',
        ],
      },
    ],
  },
  linear: {
    secret: 'theirs-after',
    secretName: 'adminIntegrations.signingSecret',
    secretHint: 'adminIntegrations.linearShowsItBesideThe',
    tokenHint: 'adminIntegrations.anApiKeyOfA',
    oauthHint: 'adminIntegrations.inTheSettingsOfTheWorkspace',
    kinds: [
      {
        kind: 'app',
        label: 'adminIntegrations.webhookOfTheWorkspace',
        steps: [
          'adminIntegrations.inTheSettingsOfTheLinear',
          'adminIntegrations.enterTheAddressAsUrlAndChoose',
          'adminIntegrations.saveItCopyTheSigning',
          'adminIntegrations.commentOnAnIssueThat',
        ],
      },
    ],
  },
};

/** What to do for a provider that this page does not know. */
const GENERAL_STEPS: readonly MessageKey[] = [
  'adminIntegrations.atTheProviderAddA',
  'adminIntegrations.chooseTheEventsAboutIssues',
  'adminIntegrations.saveItItsFirstDelivery',
];

/**
 * What an admin needs to know to connect this provider. Of one that the page does not know, every kind is offered but
 * sockets, which nothing connects to.
 */
export function guideOf(
  t: Translate,
  provider: {
    readonly id: string;
    readonly connections: ReadonlyArray<{ kind: string; name: string; signature: string }>;
  },
): SetupGuide {
  const known = Object.hasOwn(GUIDES, provider.id) ? GUIDES[provider.id] : undefined;
  if (known !== undefined)
    return translatedGuide(t, {
      ...known,
      kinds: known.kinds.filter(({ kind }) => provider.connections.some((each) => each.kind === kind)),
    });
  const kinds = provider.connections.filter(({ signature }) => signature !== 'socket');
  return {
    secret: 'ours',
    secretName: t('adminIntegrations.webhookSecret'),
    kinds: kinds.map(({ kind, name }) => ({ kind, label: name, steps: GENERAL_STEPS.map((step) => t(step)) })),
  };
}

function translatedGuide(t: Translate, guide: SetupGuide<MessageKey>): SetupGuide {
  const { secretHint, tokenHint, oauthHint, app, kinds } = guide;
  return {
    secret: guide.secret,
    secretName: t(guide.secretName),
    ...(secretHint === undefined ? {} : { secretHint: t(secretHint) }),
    ...(tokenHint === undefined ? {} : { tokenHint: t(tokenHint) }),
    ...(oauthHint === undefined ? {} : { oauthHint: t(oauthHint) }),
    ...(app === undefined ? {} : { app: { label: t(app.label), href: app.href, hint: t(app.hint) } }),
    kinds: kinds.map(({ kind, label, steps, secretName, secretHint: hint }) => ({
      kind,
      label: t(label),
      ...(secretName === undefined ? {} : { secretName: t(secretName) }),
      ...(hint === undefined ? {} : { secretHint: t(hint) }),
      steps: steps.map((step) => t(step)),
    })),
  };
}

/** What the secret of a kind is called, and where it is found. */
export function secretOf(
  guide: SetupGuide,
  kind: string,
): { readonly name: string; readonly hint: string | undefined } {
  const own = guide.kinds.find((each) => each.kind === kind);
  return { name: own?.secretName ?? guide.secretName, hint: own?.secretHint ?? guide.secretHint };
}

/** The steps of a connection that there is; the first kind's where its own has none. */
export function setupOf(guide: SetupGuide, kind: string): SetupKind | undefined {
  return guide.kinds.find((each) => each.kind === kind) ?? guide.kinds[0];
}

/** What does not work with this provider yet, in whole sentences; empty where all does. */
export function limitsOf(
  t: Translate,
  provider: {
    readonly name: string;
    readonly does: readonly string[];
    readonly takesToken: boolean;
    readonly linking: boolean;
  },
): readonly string[] {
  const { name, does, takesToken, linking } = provider;
  return [
    ...(linking ? [] : [t('adminIntegrations.accountsAtCannotBeLinked', { name })]),
    ...(does.includes('code') && !takesToken ? [t('adminIntegrations.slipwayCannotCheckWriteAccess', { name })] : []),
  ];
}
