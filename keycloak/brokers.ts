/** A provider by which people may sign in, instead of a password of the realm's own. */
export type Broker = SocialBroker | OidcBroker | SamlBroker;

interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}
interface SocialBroker extends Credentials {
  readonly kind: 'github' | 'gitlab' | 'google';
  /** A server of one's own; GitHub Enterprise also needs `apiUrl`. Absent: the public one. */
  readonly baseUrl?: string | undefined;
  readonly apiUrl?: string | undefined;
  /**
   * Whether an address that a server of one's own calls verified needs no verification of our own. Absent: false, since
   * the admins of that server can call any address verified. The public services verify addresses themselves and are
   * trusted.
   */
  readonly trustEmail?: boolean | undefined;
}
/** Any OpenID Connect issuer. `endpoints` are those of its discovery document. */
interface OidcBroker extends Credentials {
  readonly kind: 'oidc';
  readonly alias: string;
  readonly label: string;
  /**
   * Whether an address that it calls verified needs no verification of our own. An existing account is never taken over
   * by it, whatever this says.
   */
  readonly trustEmail: boolean;
  readonly endpoints: OidcEndpoints;
}
export interface OidcEndpoints {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
  readonly userinfo_endpoint?: string | undefined;
  readonly end_session_endpoint?: string | undefined;
}
interface SamlBroker {
  readonly kind: 'saml';
  readonly alias: string;
  readonly label: string;
  readonly trustEmail: boolean;
  readonly entityId: string;
  readonly signOnUrl: string;
  /** PEM or bare base64: what signs its assertions. */
  readonly certificate: string;
}

type Json = Readonly<Record<string, unknown>>;

const LABELS = { github: 'GitHub', gitlab: 'GitLab', google: 'Google' } as const;
/** What Slipway does for people there: reads and writes their repositories. Google only says who they are. */
const SCOPES = { github: 'user:email repo', gitlab: 'openid read_user api', google: 'openid profile email' } as const;
/** SAML names of a user's name attributes, as most issuers send them. */
const SAML_ATTRIBUTES = { email: 'email', firstName: 'givenName', lastName: 'surname' } as const;

/**
 * The realm's `identityProviders` and their mappers. All of them run Keycloak's own `first broker login`: a new user
 * gets an account; one whose e-mail address or name is taken has to prove that the account is theirs, by its password
 * or a message to its address, before the two are linked.
 */
export function brokerRepresentations(brokers: readonly Broker[]): {
  identityProviders: Json[];
  identityProviderMappers: Json[];
} {
  return {
    identityProviders: brokers.map(broker),
    identityProviderMappers: brokers.flatMap((one) => (one.kind === 'saml' ? samlMappers(one.alias) : [])),
  };
}

function broker(one: Broker): Json {
  switch (one.kind) {
    case 'github':
      return common(one.kind, one.kind, LABELS.github, trusts(one), {
        ...client(one, SCOPES.github),
        ...(one.baseUrl === undefined
          ? {}
          : { baseUrl: one.baseUrl, apiUrl: one.apiUrl ?? `${one.baseUrl.replace(/\/$/, '')}/api/v3` }),
      });
    case 'gitlab':
      return one.baseUrl === undefined
        ? common(one.kind, one.kind, LABELS.gitlab, true, client(one, SCOPES.gitlab))
        : common(one.kind, 'oidc', LABELS.gitlab, trusts(one), {
            ...client(one, SCOPES.gitlab),
            ...endpoints(gitlabEndpoints(one.baseUrl)),
          });
    case 'google':
      return common(one.kind, one.kind, LABELS.google, true, client(one, SCOPES.google));
    case 'oidc':
      return common(one.alias, 'oidc', one.label, one.trustEmail, {
        ...client(one, 'openid profile email'),
        ...endpoints(one.endpoints),
      });
    case 'saml':
      return {
        ...common(one.alias, 'saml', one.label, one.trustEmail, samlConfig(one)),
        storeToken: false,
        addReadTokenRoleOnCreate: false,
      };
  }
}

const trusts = ({ baseUrl, trustEmail = false }: SocialBroker): boolean => baseUrl === undefined || trustEmail;

function common(alias: string, providerId: string, displayName: string, trustEmail: boolean, config: Json): Json {
  return {
    alias,
    providerId,
    displayName,
    enabled: true,
    trustEmail,
    storeToken: true,
    addReadTokenRoleOnCreate: true,
    linkOnly: false,
    firstBrokerLoginFlowAlias: 'first broker login',
    // A user's own changes here are not undone by the next sign-in.
    config: { syncMode: 'IMPORT', ...config },
  };
}

function client({ clientId, clientSecret }: Credentials, defaultScope: string): Json {
  return { clientId, clientSecret, defaultScope };
}

function endpoints(of: OidcEndpoints): Json {
  return {
    issuer: of.issuer,
    authorizationUrl: of.authorization_endpoint,
    tokenUrl: of.token_endpoint,
    jwksUrl: of.jwks_uri,
    ...(of.userinfo_endpoint === undefined ? { disableUserInfo: 'true' } : { userInfoUrl: of.userinfo_endpoint }),
    ...(of.end_session_endpoint === undefined ? {} : { logoutUrl: of.end_session_endpoint }),
    clientAuthMethod: 'client_secret_post',
    useJwksUrl: 'true',
    validateSignature: 'true',
    pkceEnabled: 'true',
    pkceMethod: 'S256',
  };
}

/** GitLab's paths are the same on every server of it. */
function gitlabEndpoints(baseUrl: string): OidcEndpoints {
  const at = (path: string): string => `${baseUrl.replace(/\/$/, '')}${path}`;
  return {
    issuer: at(''),
    authorization_endpoint: at('/oauth/authorize'),
    token_endpoint: at('/oauth/token'),
    jwks_uri: at('/oauth/discovery/keys'),
    userinfo_endpoint: at('/oauth/userinfo'),
  };
}

/** An assertion is of no use as a token, so none is stored. */
function samlConfig({ entityId, signOnUrl, certificate }: SamlBroker): Json {
  return {
    idpEntityId: entityId,
    singleSignOnServiceUrl: signOnUrl,
    signingCertificate: certificate.replace(/-----[A-Z ]+-----|\s/g, ''),
    validateSignature: 'true',
    wantAssertionsSigned: 'true',
    postBindingAuthnRequest: 'true',
    postBindingResponse: 'true',
    nameIDPolicyFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
    principalType: 'SUBJECT',
    allowedClockSkew: '60',
  };
}

function samlMappers(alias: string): Json[] {
  return Object.entries(SAML_ATTRIBUTES).map(([property, attribute]) => ({
    name: `${alias}-${property}`,
    identityProviderAlias: alias,
    identityProviderMapper: 'saml-user-attribute-idp-mapper',
    config: { syncMode: 'INHERIT', 'user.attribute': property, 'attribute.name': attribute },
  }));
}
