import { type Broker, brokerRepresentations } from './brokers.ts';
import { authenticationFlows } from './flows.ts';

/** What one installation's realm is made of. Addresses are absolute; times are seconds. */
export interface RealmParameters {
  /** Name in the issuer's address: `…/realms/<name>`. */
  readonly name: string;
  /** Where browsers reach Slipway. */
  readonly publicUrl: string;
  /** Where Keycloak reaches app-server for back-channel logout; `publicUrl` unless Keycloak has a shorter way. */
  readonly appServerUrl: string;
  readonly webClient: { readonly id: string; readonly secret: string };
  readonly serviceClient: { readonly id: string; readonly secret: string };
  /** Whether strangers may make accounts. */
  readonly registration: boolean;
  /** Users cannot sign in before the address is verified. Needs `smtp`. */
  readonly verifyEmail: boolean;
  /** `required`: all users set up an authenticator at the first sign-in; `optional`: those who want to. */
  readonly totp: 'optional' | 'required';
  /**
   * The realm's own way in, by which a sign-in can ask for a second factor (`flows.ts`), in the place of Keycloak's.
   */
  readonly stepUp: boolean;
  readonly smtp: {
    readonly host: string;
    readonly port: number;
    readonly from: string;
    readonly tls: boolean;
    readonly user?: string;
    readonly password?: string;
  } | null;
  /** Longest time between two visits, and of a whole sign-in. A session of Slipway's is over when this one is. */
  readonly sessionIdleSeconds: number;
  readonly sessionMaxSeconds: number;
  readonly brokers: readonly Broker[];
}

/** Where the browser comes back to, and where Keycloak reports an ended session: app-server's own paths. */
const CALLBACK_PATH = '/oauth/keycloak/callback';
/** Where it comes back to when another user is to sign in. */
const SWITCHED_PATH = '/oauth/switched';
const BACKCHANNEL_LOGOUT_PATH = '/oauth/backchannel-logout';
/** A stolen access token is of use for this long; a session is refreshed as often. Seconds. */
const ACCESS_TOKEN_SECONDS = 300;
/** What app-server asks of the realm as itself: a list of users. It changes no user and no setting. */
const SERVICE_ROLES = ['view-users', 'query-users'];
/** Keycloak's own set, needed in full as soon as one of them is set otherwise: [alias, name, enabled]. */
const REQUIRED_ACTIONS = [
  ['CONFIGURE_TOTP', 'Configure OTP', true],
  ['TERMS_AND_CONDITIONS', 'Terms and Conditions', false],
  ['UPDATE_PASSWORD', 'Update Password', true],
  ['UPDATE_PROFILE', 'Update Profile', true],
  ['VERIFY_EMAIL', 'Verify Email', true],
  ['VERIFY_PROFILE', 'Verify Profile', true],
] as const;

type Json = Readonly<Record<string, unknown>>;

/** The realm as Keycloak imports it (`kc.sh start --import-realm`, or the admin console). */
export function realmRepresentation(parameters: RealmParameters): Json {
  const { name, publicUrl, smtp, brokers, totp } = parameters;
  if (parameters.verifyEmail && smtp === null)
    throw new Error('an e-mail address can only be verified with a mail server');
  return {
    realm: name,
    displayName: 'Slipway',
    // A Keycloak without it (`themes/`) shows its own pages.
    loginTheme: 'slipway',
    enabled: true,
    sslRequired: new URL(publicUrl).protocol === 'https:' ? 'external' : 'none',
    registrationAllowed: parameters.registration,
    registrationEmailAsUsername: false,
    verifyEmail: parameters.verifyEmail,
    loginWithEmailAllowed: true,
    duplicateEmailsAllowed: false,
    resetPasswordAllowed: smtp !== null,
    editUsernameAllowed: false,
    rememberMe: false,
    ...(smtp === null ? {} : { smtpServer: smtpRepresentation(smtp) }),
    passwordPolicy: 'length(8) and notUsername(undefined) and notEmail(undefined)',
    ...bruteForceProtection(),
    defaultSignatureAlgorithm: 'RS256',
    accessTokenLifespan: ACCESS_TOKEN_SECONDS,
    ssoSessionIdleTimeout: parameters.sessionIdleSeconds,
    ssoSessionMaxLifespan: parameters.sessionMaxSeconds,
    // Two replicas may refresh at once, and an answer may get lost: neither may end a session.
    revokeRefreshToken: false,
    organizationsEnabled: false,
    eventsEnabled: true,
    eventsExpiration: 90 * 86_400,
    adminEventsEnabled: true,
    ...(totp === 'required' ? { requiredActions: requiredActions() } : {}),
    clients: [webClient(parameters), serviceClient(parameters)],
    // A token of the web client carries this one role, with which a user's stored provider token is read, and none
    // besides.
    clientScopeMappings: { broker: [{ client: parameters.webClient.id, roles: ['read-token'] }] },
    users: [
      {
        username: `service-account-${parameters.serviceClient.id}`,
        enabled: true,
        serviceAccountClientId: parameters.serviceClient.id,
        clientRoles: { 'realm-management': SERVICE_ROLES },
      },
    ],
    ...brokerRepresentations(brokers),
    ...(parameters.stepUp ? authenticationFlows() : {}),
  };
}

function webClient({ webClient: { id, secret }, publicUrl, appServerUrl, stepUp }: RealmParameters): Json {
  const home = new URL('/', publicUrl).href;
  return {
    clientId: id,
    name: 'Slipway',
    enabled: true,
    protocol: 'openid-connect',
    publicClient: false,
    clientAuthenticatorType: 'client-secret',
    secret,
    standardFlowEnabled: true,
    implicitFlowEnabled: false,
    directAccessGrantsEnabled: false,
    serviceAccountsEnabled: false,
    consentRequired: false,
    fullScopeAllowed: false,
    redirectUris: [new URL(CALLBACK_PATH, publicUrl).href],
    webOrigins: [],
    attributes: {
      'pkce.code.challenge.method': 'S256',
      'post.logout.redirect.uris': [home, new URL(SWITCHED_PATH, publicUrl).href].join('##'),
      'backchannel.logout.url': new URL(BACKCHANNEL_LOGOUT_PATH, appServerUrl).href,
      'backchannel.logout.session.required': 'true',
      'standard.token.exchange.enabled': 'true',
    },
    // A client that names only optional scopes is left without any by default: no subject, no roles, no e-mail.
    defaultClientScopes: ['acr', 'basic', 'email', 'profile', 'roles'],
    optionalClientScopes: [],
    protocolMappers: [
      // Without itself in the audience a client can neither introspect nor exchange its own tokens.
      mapper('aud-self', 'oidc-audience-mapper', {
        'included.client.audience': id,
        'access.token.claim': 'true',
        'id.token.claim': 'false',
      }),
      // Authentication methods used, with the value of `acr`.
      ...(stepUp
        ? [mapper('amr', 'oidc-amr-mapper', { 'id.token.claim': 'true', 'access.token.claim': 'false' })]
        : []),
      mapper('identity-provider', 'oidc-usersessionmodel-note-mapper', {
        'user.session.note': 'identity_provider',
        'claim.name': 'identity_provider',
        'jsonType.label': 'String',
        'id.token.claim': 'true',
        'access.token.claim': 'false',
      }),
    ],
  };
}

function serviceClient({ serviceClient: { id, secret } }: RealmParameters): Json {
  return {
    clientId: id,
    name: 'Slipway (its own servers)',
    enabled: true,
    protocol: 'openid-connect',
    publicClient: false,
    clientAuthenticatorType: 'client-secret',
    secret,
    standardFlowEnabled: false,
    implicitFlowEnabled: false,
    directAccessGrantsEnabled: false,
    serviceAccountsEnabled: true,
    fullScopeAllowed: true,
    redirectUris: [],
    webOrigins: [],
    defaultClientScopes: ['basic', 'roles', 'service_account'],
    optionalClientScopes: [],
  };
}

/**
 * Ten wrong passwords make a name wait, a minute more each time, at most a quarter of an hour; no user is locked out
 * for good.
 */
function bruteForceProtection(): Json {
  return {
    bruteForceProtected: true,
    permanentLockout: false,
    failureFactor: 10,
    waitIncrementSeconds: 60,
    maxFailureWaitSeconds: 900,
    minimumQuickLoginWaitSeconds: 5,
    quickLoginCheckMilliSeconds: 200,
    maxDeltaTimeSeconds: 43_200,
  };
}

function requiredActions(): Json[] {
  return REQUIRED_ACTIONS.map(([alias, name, enabled], index) => ({
    alias,
    name,
    providerId: alias,
    enabled,
    defaultAction: alias === 'CONFIGURE_TOTP',
    priority: (index + 1) * 10,
    config: {},
  }));
}

function smtpRepresentation({ host, port, from, tls, user, password }: NonNullable<RealmParameters['smtp']>): Json {
  return {
    host,
    port: String(port),
    from,
    fromDisplayName: 'Slipway',
    ssl: String(tls),
    starttls: String(!tls && user !== undefined),
    auth: String(user !== undefined),
    ...(user === undefined ? {} : { user, password: password ?? '' }),
  };
}

function mapper(name: string, protocolMapper: string, config: Readonly<Record<string, string>>): Json {
  return {
    name,
    protocol: 'openid-connect',
    protocolMapper,
    config: { 'introspection.token.claim': 'true', ...config },
  };
}
