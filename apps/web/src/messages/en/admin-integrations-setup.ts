/** How a webhook, an app or an OAuth client is set up at each provider. */
export const adminIntegrationsSetup = {
  readsRepositoriesAndTheirMembers:
    'Reads repositories and their members, and writes contents, issues and pull requests. Slipway uses it to check who has write access, publish branches and reply in threads.',
  inTheSettingsOfThe:
    'In the settings of the organization, open Developer settings, OAuth Apps, and register an application.',
  webhookOfARepositoryOr: 'Webhook of a repository or organization',
  inTheSettingsOfTheRepository:
    'In the settings of the repository or organization, open Webhooks and choose Add webhook.',
  enterTheAddressAsPayload:
    'Enter the address as Payload URL, choose application/json as Content type, and enter the secret.',
  chooseIndividualEventsIssuesIssue:
    'Choose individual events: Issues, Issue comments, Pull requests, Pull request reviews, Pull request review comments, Check suites, Statuses.',
  saveItGithubSendsA: 'Save it. GitHub sends a ping, which activates this connection.',
  yourOwnGithubApp: 'Your own GitHub App',
  inTheSettingsOfTheOrganization:
    'In the settings of the organization, open Developer settings, GitHub Apps, and choose New GitHub App.',
  enterTheAddressAsWebhook: 'Enter the address as Webhook URL and the secret as Webhook secret.',
  giveItReadAccessTo:
    'Give it read access to Contents, Issues, Pull requests, Checks and Commit statuses, and subscribe to Issues, Issue comment, Pull request, Pull request review, Pull request review comment, Check suite and Status.',
  createItAndInstallIt: 'Create it and install it on the repositories. Its first delivery activates this connection.',
  signingToken: 'Signing token',
  inTheSettingsOfTheGroup: 'In the settings of the group, open Applications and add one that is confidential.',
  webhookWithASigningToken: 'Webhook with a signing token',
  inTheSettingsOfTheProject: 'In the settings of the project or group, open Webhooks and choose Add new webhook.',
  enterTheAddressAsUrl:
    'Enter the address as URL and the secret as Signing token. If your GitLab has no such field, connect it with a secret token instead.',
  chooseTheTriggersIssuesEvents:
    'Choose the triggers Issues events, Comments, Merge request events and Pipeline events. Leave confidential ones off unless the connection reads them.',
  saveItAndSendA: 'Save it and send a test of any event. This activates the connection.',
  webhookWithASecretToken: 'Webhook with a secret token (older GitLab)',
  enterTheAddressAsUrlAnd: 'Enter the address as URL and the secret as Secret token.',
  withWriteRepositoryAndWrite:
    'With write:repository and write:issue, from an account that administers the repositories. Slipway uses it to check who has write access, publish branches and reply in threads.',
  inYourSettingsOrThe:
    'In your settings or the organization’s, open Applications and create a confidential OAuth2 application.',
  inTheSettingsOfTheRepositoryOr:
    'In the settings of the repository or organization, open Webhooks, choose Add webhook, then Gitea.',
  enterTheAddressAsTarget: 'Enter the address as Target URL, choose application/json, and enter the secret.',
  chooseCustomEventsAllOf:
    'Choose custom events: all of Issues and of Pull requests, with their comments, labels, assignments and reviews, Statuses and Workflow Run.',
  saveItAndChooseTest: 'Save it and choose Test delivery. This activates the connection.',
  signingSecret: 'Signing secret',
  inSlackOpenTheApp: 'In Slack, open the app, then Basic Information, App Credentials.',
  createTheSlackApp: 'Create the Slack app',
  fromAManifestWithThe: 'from a manifest with the name, bot and scopes. Then install it to the workspace.',
  theBotTokenOfThe: 'The bot token of the installed app. It begins with xoxb- and is used to reply in threads.',
  openTheAppAtApi:
    'Open the app at api.slack.com, then OAuth & Permissions, and add the redirect URL. Client ID and secret are under Basic Information.',
  slackAppOfYourWorkspace: 'Slack app of your workspace',
  atApiSlackComOpen:
    'At api.slack.com, open the app whose signing secret you entered, then Event Subscriptions, and enable events.',
  enterTheAddressAsRequest: 'Enter the address as Request URL. Slack checks it immediately and shows Verified.',
  subscribeToTheBotEvents:
    'Subscribe to the bot events app_mention, message.channels, message.groups and message.im, and save.',
  underInteractivityShortcutsEnableInteractivity:
    'Under Interactivity & Shortcuts, enable interactivity and enter the same address as Request URL and as Options Load URL, so that users can choose a repository.',
  installTheAppToThe: 'Install the app to the workspace and invite its bot to the channels where users ask for work.',
  socketModeSlackCannotReach: 'Socket Mode (Slack cannot reach Slipway)',
  appLevelToken: 'App-level token',
  inSlackOpenTheAppThen:
    'In Slack, open the app, then Basic Information, App-Level Tokens: one with the scope connections:write. It begins with xapp-.',
  atApiSlackComOpenThe: 'At api.slack.com, open the app, then Socket Mode, and enable it. Slack then needs no address.',
  underEventSubscriptionsEnableEvents:
    'Under Event Subscriptions, enable events and subscribe to the bot events app_mention, message.channels, message.groups and message.im.',
  underInteractivityShortcutsEnableInteractivity2: 'Under Interactivity & Shortcuts, enable interactivity.',
  installTheAppToTheWorkspace:
    'Install the app to the workspace and invite its bot to the channels where users ask for work. Slipway opens the socket within seconds, which activates this connection.',
  fromADedicatedAccountMail:
    'From a dedicated account: mail:token with an API token for Cloud, or a personal access token for Data Center. It is used to reply in tickets.',
  cloudAtDeveloperAtlassianCom:
    'Cloud: at developer.atlassian.com, create an OAuth 2.0 integration with the User identity API. To connect with OAuth, add the Jira API. Data Center: in Administration, Applications, Application links, create an incoming link to an external application with the scope READ.',
  webhookCreatedByAnAdministrator: 'Webhook created by an administrator',
  asAJiraAdministratorOpen: 'As a Jira administrator, open System, WebHooks, and choose Create a WebHook.',
  enterTheAddressAsUrlAndThe: 'Enter the address as URL and the secret as Secret.',
  chooseTheEventsIssueCreated:
    'Choose the events Issue created, Issue updated and Comment created, and limit them to your projects with JQL.',
  createItAndCommentOn: 'Create it and comment on an issue. That delivery activates this connection.',
  oauth20AppCloud: 'OAuth 2.0 app (Cloud)',
  atDeveloperAtlassianComCreate:
    'At developer.atlassian.com, create an OAuth 2.0 integration and add the Jira API with the scopes listed for the OAuth client below.',
  enterItsClientIdAnd:
    'Enter its client ID and secret as the OAuth client below, and press Connect with OAuth, signed in as a dedicated account.',
  slipwayCreatesTheWebhookWithin:
    'Slipway creates the webhook within a minute for the projects that the account can see, and renews it. Comment on an issue to activate this connection.',
  webhookOfJiraDataCenter: 'Webhook of Jira Data Center',
  enterTheAddressAsUrlAndTheSecret:
    'Enter the address as URL and the secret as Secret. A Jira without this field does not sign deliveries and cannot be connected.',
  chooseTheEventsIssueCreatedIssue: 'Choose the events Issue created, Issue updated and Comment created.',
  linearShowsItBesideThe: 'Linear shows it beside the webhook after you save it.',
  anApiKeyOfA: 'An API key of a dedicated account that can write comments. It is used to reply in issues.',
  inTheSettingsOfTheWorkspace: 'In the settings of the workspace, open API, OAuth applications, and create one.',
  webhookOfTheWorkspace: 'Webhook of the workspace',
  inTheSettingsOfTheLinear: 'In the settings of the Linear workspace, open API, Webhooks, and choose New webhook.',
  enterTheAddressAsUrlAndChoose: 'Enter the address as URL and choose the data change events Issues and Comments.',
  saveItCopyTheSigning:
    'Save it, copy the signing secret that Linear shows, and enter it here. Until then every delivery is refused.',
  commentOnAnIssueThat: 'Comment on an issue. That delivery activates this connection.',
  atTheProviderAddA: 'At the provider, add a webhook with the address and the secret.',
  chooseTheEventsAboutIssues: 'Choose the events about issues, comments and pull requests.',
  saveItItsFirstDelivery: 'Save it. Its first delivery activates this connection.',
  accountsAtCannotBeLinked: 'Accounts at {name} cannot be linked yet, so requests from there are listed but refused.',
  slipwayCannotCheckWriteAccess:
    'Slipway cannot check write access at {name} yet, so requests that name a repository are listed but refused.',
} as const;
