/** Where the secret comes from that a provider signs its deliveries by. `theirs-first`: it is known before the address is entered there; `theirs-after`: only after. */
export type SecretSource = 'ours' | 'theirs-first' | 'theirs-after';

/** One way to connect, as an admin walks it. */
export interface SetupKind {
  readonly kind: string;
  readonly label: string;
  /** Where its secret is another than that of the provider's other kinds. */
  readonly secretName?: string;
  readonly secretHint?: string;
  /** What to do at the provider, in order. */
  readonly steps: readonly string[];
}

interface SetupGuide {
  readonly secret: SecretSource;
  /** As the provider calls it. */
  readonly secretName: string;
  /** Where the provider shows its own secret; of `ours` there is nothing to find. */
  readonly secretHint?: string;
  /** What the access token must be allowed. */
  readonly tokenHint?: string;
  /** Where an OAuth application is registered, by which users link their accounts. */
  readonly oauthHint?: string;
  /** Where the provider's side is made in one step. */
  readonly app?: { readonly label: string; readonly href: string; readonly hint: string };
  /** Those that can be set up by hand, the usual first. */
  readonly kinds: readonly SetupKind[];
}

/** What the app of a workspace may do. The addresses of a connection are entered once there is one. */
const SLACK_MANIFEST = {
  display_information: { name: 'Slipway' },
  features: { bot_user: { display_name: 'slipway', always_online: true } },
  oauth_config: {
    scopes: {
      bot: ['app_mentions:read', 'chat:write', 'reactions:write', 'channels:history', 'groups:history', 'im:history', 'assistant:write'],
      user: ['openid', 'profile'],
    },
  },
  settings: { org_deploy_enabled: false, socket_mode_enabled: false, token_rotation_enabled: false },
};

const GUIDES: Readonly<Record<string, SetupGuide>> = {
  github: {
    secret: 'ours',
    secretName: 'Webhook secret',
    tokenHint:
      'Reads repositories and their members, and writes contents, issues and pull requests: it asks who may write, publishes branches and answers in the thread.',
    oauthHint: 'In the settings of the organization, open Developer settings, OAuth Apps, and register an application.',
    kinds: [
      {
        kind: 'repository-webhook',
        label: 'Webhook of a repository or organization',
        steps: [
          'In the settings of the repository or organization, open Webhooks and choose Add webhook.',
          'Enter the address as Payload URL, choose application/json as Content type, and enter the secret.',
          'Choose individual events: Issues, Issue comments, Pull requests, Pull request reviews, Pull request review comments, Check suites, Statuses.',
          'Save it. GitHub sends a ping, which makes this connection active.',
        ],
      },
      {
        kind: 'app',
        label: 'GitHub App of your own',
        steps: [
          'In the settings of the organization, open Developer settings, GitHub Apps, and choose New GitHub App.',
          'Enter the address as Webhook URL and the secret as Webhook secret.',
          'Give it read access to Contents, Issues, Pull requests, Checks and Commit statuses, and subscribe to Issues, Issue comment, Pull request, Pull request review, Pull request review comment, Check suite and Status.',
          'Create it and install it on the repositories. Its first delivery makes this connection active.',
        ],
      },
    ],
  },
  gitlab: {
    secret: 'ours',
    secretName: 'Signing token',
    oauthHint: 'In the settings of the group, open Applications and add one that is confidential.',
    kinds: [
      {
        kind: 'access-token',
        label: 'Webhook with a signing token',
        steps: [
          'In the settings of the project or group, open Webhooks and choose Add new webhook.',
          'Enter the address as URL and the secret as Signing token. A GitLab that has no such field is connected with a secret token instead.',
          'Choose the triggers Issues events, Comments, Merge request events and Pipeline events. Leave confidential ones off unless the connection reads them.',
          'Save it and send a test of any event. It makes this connection active.',
        ],
      },
      {
        kind: 'oauth-token',
        label: 'Webhook with a secret token (older GitLab)',
        steps: [
          'In the settings of the project or group, open Webhooks and choose Add new webhook.',
          'Enter the address as URL and the secret as Secret token.',
          'Choose the triggers Issues events, Comments, Merge request events and Pipeline events. Leave confidential ones off unless the connection reads them.',
          'Save it and send a test of any event. It makes this connection active.',
        ],
      },
    ],
  },
  gitea: {
    secret: 'ours',
    secretName: 'Secret',
    tokenHint:
      'With write:repository and write:issue, of somebody who administers the repositories: it asks who may write, which Gitea tells to nobody else, publishes branches and answers in the thread.',
    oauthHint: 'In your settings or those of the organization, open Applications and create a confidential OAuth2 application.',
    kinds: [
      {
        kind: 'token',
        label: 'Webhook and access token',
        steps: [
          'In the settings of the repository or organization, open Webhooks, choose Add webhook, then Gitea.',
          'Enter the address as Target URL, choose application/json, and enter the secret.',
          'Choose custom events: all of Issues and of Pull requests, with their comments, labels, assignments and reviews, Statuses and Workflow Run.',
          'Save it and choose Test delivery. It makes this connection active.',
        ],
      },
    ],
  },
  slack: {
    secret: 'theirs-first',
    secretName: 'Signing secret',
    secretHint: 'In Slack, open the app, then Basic Information, App Credentials.',
    app: {
      label: 'Create the Slack app',
      href: `https://api.slack.com/apps?${new URLSearchParams({ new_app: '1', manifest_json: JSON.stringify(SLACK_MANIFEST) })}`,
      hint: 'from a manifest that has the name, the bot and the scopes; install it to the workspace then.',
    },
    tokenHint: 'The bot token of the installed app, which begins with xoxb-: it answers in threads.',
    oauthHint: 'Open the app at api.slack.com, then OAuth & Permissions, and add the redirect URL. Client ID and secret are under Basic Information.',
    kinds: [
      {
        kind: 'app',
        label: 'Slack app of your workspace',
        steps: [
          'At api.slack.com, open the app whose signing secret you entered, then Event Subscriptions, and switch events on.',
          'Enter the address as Request URL. Slack tries it at once and says Verified.',
          'Subscribe to the bot events app_mention, message.channels, message.groups and message.im, and save.',
          'Under Interactivity & Shortcuts, switch interactivity on and enter the same address as Request URL and as Options Load URL, so that people can choose a repository.',
          'Install the app to the workspace and invite its bot to the channels where people ask for work.',
        ],
      },
      {
        kind: 'socket',
        label: 'Socket Mode (Slack cannot reach Slipway)',
        secretName: 'App-level token',
        secretHint: 'In Slack, open the app, then Basic Information, App-Level Tokens: one with the scope connections:write. It begins with xapp-.',
        steps: [
          'At api.slack.com, open the app, then Socket Mode, and switch it on. Slack asks for no address then.',
          'Under Event Subscriptions switch events on, and subscribe to the bot events app_mention, message.channels, message.groups and message.im.',
          'Under Interactivity & Shortcuts switch interactivity on.',
          'Install the app to the workspace and invite its bot to the channels where people ask for work. Slipway opens the socket within seconds, which makes this connection active.',
        ],
      },
    ],
  },
  jira: {
    secret: 'ours',
    secretName: 'Secret',
    tokenHint: 'Of an account of its own: mail:token with an API token of Cloud, or a personal access token of a Data Center. It answers in tickets.',
    oauthHint:
      'Cloud: at developer.atlassian.com create an OAuth 2.0 integration with the User identity API, and to connect by OAuth the Jira API. Data Center: in Administration, Applications, Application links, create an incoming link to an external application with the scope READ.',
    kinds: [
      {
        kind: 'service-account',
        label: 'Webhook of an administrator',
        steps: [
          'As a Jira administrator, open System, WebHooks, and choose Create a WebHook.',
          'Enter the address as URL and the secret as Secret.',
          'Choose the events Issue created, Issue updated and Comment created, and limit them to your projects by JQL.',
          'Create it and comment on an issue. That delivery makes this connection active.',
        ],
      },
      {
        kind: 'oauth',
        label: 'OAuth 2.0 app (Cloud)',
        steps: [
          'At developer.atlassian.com create an OAuth 2.0 integration, and add the Jira API with the scopes that the OAuth client below names.',
          'Enter its client ID and secret as the OAuth client below, and press Connect with OAuth as an account of its own.',
          'Slipway makes the webhook within a minute, for the projects that the account sees, and renews it. Comment on an issue: that makes this connection active.',
        ],
      },
      {
        kind: 'data-center',
        label: 'Webhook of Jira Data Center',
        steps: [
          'As a Jira administrator, open System, WebHooks, and choose Create a WebHook.',
          'Enter the address as URL and the secret as Secret. A Jira that has no such field signs nothing and cannot be connected.',
          'Choose the events Issue created, Issue updated and Comment created.',
          'Create it and comment on an issue. That delivery makes this connection active.',
        ],
      },
    ],
  },
  linear: {
    secret: 'theirs-after',
    secretName: 'Signing secret',
    secretHint: 'Linear shows it beside the webhook once that is saved.',
    tokenHint: 'An API key of an account of its own, which may write comments: it answers in issues.',
    oauthHint: 'In the settings of the workspace, open API, OAuth applications, and create one.',
    kinds: [
      {
        kind: 'app',
        label: 'Webhook of the workspace',
        steps: [
          'In the settings of the Linear workspace, open API, Webhooks, and choose New webhook.',
          'Enter the address as URL and choose the data change events Issues and Comments.',
          'Save it, copy the signing secret that Linear shows, and enter it here. Until then every delivery is refused.',
          'Comment on an issue. That delivery makes this connection active.',
        ],
      },
    ],
  },
};

/** What to do for a provider that this page does not know. */
const GENERAL_STEPS = [
  'At the provider, add a webhook with the address and the secret.',
  'Choose the events about issues, comments and pull requests.',
  'Save it. Its first delivery makes this connection active.',
];

/** What an admin needs to know to connect this provider. Of one that the page does not know, every kind is offered but sockets, which nothing connects to. */
export function guideOf(provider: { readonly id: string; readonly connections: ReadonlyArray<{ kind: string; name: string; signature: string }> }): SetupGuide {
  const known = Object.hasOwn(GUIDES, provider.id) ? GUIDES[provider.id] : undefined;
  if (known !== undefined) return { ...known, kinds: known.kinds.filter(({ kind }) => provider.connections.some((each) => each.kind === kind)) };
  const kinds = provider.connections.filter(({ signature }) => signature !== 'socket');
  return { secret: 'ours', secretName: 'Webhook secret', kinds: kinds.map(({ kind, name }) => ({ kind, label: name, steps: GENERAL_STEPS })) };
}

/** What the secret of a kind is called, and where it is found. */
export function secretOf(guide: SetupGuide, kind: string): { readonly name: string; readonly hint: string | undefined } {
  const own = guide.kinds.find((each) => each.kind === kind);
  return { name: own?.secretName ?? guide.secretName, hint: own?.secretHint ?? guide.secretHint };
}

/** The steps of a connection that there is; the first kind's where its own has none. */
export function setupOf(guide: SetupGuide, kind: string): SetupKind | undefined {
  return guide.kinds.find((each) => each.kind === kind) ?? guide.kinds[0];
}

/** What does not work with this provider yet, in whole sentences; empty where all does. */
export function limitsOf(provider: {
  readonly name: string;
  readonly does: readonly string[];
  readonly takesToken: boolean;
  readonly linking: boolean;
}): readonly string[] {
  const { name, does, takesToken, linking } = provider;
  return [
    ...(linking ? [] : [`Accounts at ${name} cannot be linked yet, so what people ask for there is listed and refused.`]),
    ...(does.includes('code') && !takesToken ? [`${name} is not asked yet who may write, so what names a repository is listed and refused.`] : []),
  ];
}
