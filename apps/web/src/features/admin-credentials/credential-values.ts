import { type Credential, type CredentialForm, PLACE_METHODS, type Place } from '@slipway/contracts/credentials';
import type { Secret } from '@slipway/contracts/secrets';

/** A place as its fields hold it: lists are texts with one entry a line. */
export interface PlaceValues {
  /** Of the row on the page; never sent. */
  readonly id: string;
  readonly host: string;
  readonly port: string;
  readonly methods: 'all' | 'read' | 'chosen';
  /** With `chosen`. */
  readonly chosen: readonly string[];
  readonly paths: string;
  readonly git: boolean;
  readonly push: string;
  readonly foreign: Place['foreign'];
  readonly websocket: boolean;
  readonly ask: NonNullable<Place['ask']>;
  /** Empty: any number. */
  readonly uses: string;
}

/** How a value is put into requests: fields of every form, of which those of `form` are sent. */
export interface UseValues {
  readonly form: CredentialForm;
  readonly username: string;
  readonly header: string;
  readonly prefix: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Of OAuth. */
  readonly scope: string;
  readonly audience: string;
  readonly subjectAudience: string;
  readonly resource: string;
  readonly clientAuth: 'none' | 'basic' | 'body';
  readonly accessKeyId: string;
  /** Of a GitHub App. */
  readonly appId: string;
  readonly installationId: string;
  readonly apiUrl: string;
  readonly account: string;
  readonly repositories: string;
  /** `name: access`, one a line. */
  readonly permissions: string;
  readonly shape: string;
  readonly places: readonly PlaceValues[];
}

export interface CredentialValues {
  readonly name: string;
  readonly description: string;
  readonly source: 'value' | 'secret';
  readonly value: string;
  /** Beside a refresh token. */
  readonly clientSecret: string;
  readonly fromSecret: string;
  readonly use: UseValues;
  readonly scope: string;
  readonly scopeValue: string;
  /** Last day, of UTC, on which it is used; empty: none. */
  readonly lastDay: string;
}

const EMPTY_PLACE: Omit<PlaceValues, 'id'> = {
  host: '',
  port: '443',
  methods: 'all',
  chosen: [],
  paths: '',
  git: false,
  push: '',
  foreign: 'refuse',
  websocket: false,
  ask: 'never',
  uses: '',
};
const READ: readonly string[] = ['GET', 'HEAD'];

export const newPlace = (id: string, place: Partial<PlaceValues> = {}): PlaceValues => ({
  ...EMPTY_PLACE,
  ...place,
  id,
});

export const newUse = (places: readonly PlaceValues[], use: Partial<UseValues> = {}): UseValues => ({
  form: 'bearer',
  username: 'x-access-token',
  header: '',
  prefix: '',
  tokenUrl: '',
  clientId: '',
  scope: '',
  audience: '',
  subjectAudience: '',
  resource: '',
  clientAuth: 'basic',
  accessKeyId: '',
  appId: '',
  installationId: '',
  apiUrl: 'https://api.github.com',
  account: '',
  repositories: '',
  permissions: 'contents: write\npull_requests: write\nmetadata: read',
  shape: '',
  ...use,
  places,
});

/** The fields of a new credential. */
export const newValues = (id: string): CredentialValues => ({
  name: '',
  description: '',
  source: 'value',
  value: '',
  clientSecret: '',
  fromSecret: '',
  use: newUse([newPlace(id)]),
  scope: 'org',
  scopeValue: '',
  lastDay: '',
});

const lines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function methodsOf({ methods, chosen }: PlaceValues): { methods?: readonly string[] } {
  if (methods === 'all') return {};
  return { methods: methods === 'read' ? READ : PLACE_METHODS.filter((method) => chosen.includes(method)) };
}

function placeOf(place: PlaceValues): unknown {
  const { host, port, paths, git, push, foreign, websocket, ask, uses } = place;
  return {
    host: host.trim(),
    port: port.trim() === '' ? 443 : Number(port),
    ...methodsOf(place),
    ...(lines(paths).length === 0 ? {} : { paths: lines(paths) }),
    ...(git ? { git: { push: lines(push) } } : {}),
    foreign,
    ...(websocket && !git ? { websocket } : {}),
    // Left out, so that a broker of an older release goes on with a place that does not ask.
    ...(ask === 'never' ? {} : { ask }),
    ...(uses.trim() === '' ? {} : { usesPerConversation: Number(uses) }),
  };
}

const permissionsOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    lines(text)
      .map((line) => line.split(':').map((part) => part.trim()))
      .map(([name = '', access = '']) => [name, access] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );

/** What the fields mean; `CredentialUse` decides whether that may be sent. */
export function requestedUse(values: UseValues): unknown {
  const { form, username, header, prefix, accessKeyId, shape } = values;
  const places = values.places.map(placeOf);
  switch (form) {
    case 'bearer':
      return { form, places };
    case 'basic':
      return { form, username: username.trim(), places };
    case 'header':
      return { form, header: header.trim(), prefix, places };
    case 'oauth-client-credentials':
      return {
        form,
        tokenUrl: values.tokenUrl.trim(),
        clientId: values.clientId.trim(),
        scope: values.scope.trim(),
        audience: values.audience.trim(),
        clientAuth: values.clientAuth,
        places,
      };
    case 'token-exchange':
      return {
        form,
        tokenUrl: values.tokenUrl.trim(),
        subjectAudience: values.subjectAudience.trim(),
        audience: values.audience.trim(),
        resource: values.resource.trim(),
        scope: values.scope.trim(),
        clientId: values.clientId.trim(),
        clientAuth: values.clientAuth,
        places,
      };
    case 'oauth-refresh-token':
      return {
        form,
        tokenUrl: values.tokenUrl.trim(),
        clientId: values.clientId.trim(),
        scope: values.scope.trim(),
        clientAuth: values.clientAuth,
        places,
      };
    case 'github-app':
      return {
        form,
        appId: values.appId.trim(),
        installationId: values.installationId.trim(),
        apiUrl: values.apiUrl.trim(),
        account: values.account.trim(),
        repositories: lines(values.repositories),
        permissions: permissionsOf(values.permissions),
        places,
      };
    case 'mtls':
      return { form, places };
    case 'workload-token':
      return { form, audience: values.audience.trim(), places };
    case 'aws-sigv4':
      return { form, accessKeyId: accessKeyId.trim(), places };
    default:
      return { form, shape: shape.trim(), places };
  }
}

/** Whether there is a value to type. */
export const keepsValue = ({ form, clientAuth }: UseValues): boolean =>
  form !== 'workload-token' && !(form === 'token-exchange' && clientAuth === 'none');

/** The value as it is sent; empty: none was typed. */
function requestedValue({ value, clientSecret, use }: CredentialValues): string {
  if (use.form !== 'oauth-refresh-token' || (value === '' && clientSecret === '')) return value;
  return JSON.stringify({ refreshToken: value.trim(), ...(clientSecret === '' ? {} : { clientSecret }) });
}

/** The end of a day. */
const endOf = (day: string): string => `${day}T23:59:59.999Z`;
const dayOf = (at: string | null): string => at?.slice(0, 10) ?? '';

/** `POST …/credentials`; `CreateCredential` decides whether it may be sent. */
export function createRequest(values: CredentialValues): unknown {
  const { name, description, source, fromSecret, use, scope, scopeValue } = values;
  const value = requestedValue(values);
  return {
    name: name.trim(),
    description,
    scope,
    ...(scope === 'org' ? {} : { scopeValue: scopeValue.trim() }),
    use: requestedUse(use),
    ...(values.lastDay === '' ? {} : { expiresAt: endOf(values.lastDay) }),
    ...(!keepsValue(use) ? {} : source === 'secret' ? { fromSecret } : { value }),
  };
}

/** Whether the value no longer opens once this is saved, or was not needed before. */
export const needsValue = (credential: Credential, use: UseValues): boolean =>
  keepsValue(use) && isOther(credential, use);

const isOther = (credential: Credential, use: UseValues): boolean =>
  JSON.stringify(requestedUse(use)) !== JSON.stringify(requestedUse(valuesOf(credential, '').use));

/** `PATCH …/credentials/{credential}`: only what is another one. */
export function updateRequest(credential: Credential, values: CredentialValues): unknown {
  const { description, use } = values;
  const value = requestedValue(values);
  return {
    ...(description.trim() === credential.description ? {} : { description }),
    ...(isOther(credential, use) ? { use: requestedUse(use) } : {}),
    ...(values.lastDay === dayOf(credential.expiresAt)
      ? {}
      : { expiresAt: values.lastDay === '' ? null : endOf(values.lastDay) }),
    ...(value === '' || !keepsValue(use) ? {} : { value }),
  };
}

function placeValues(
  { host, port, methods, paths, git, foreign, websocket, ask = 'never', usesPerConversation }: Place,
  id: string,
): PlaceValues {
  const isRead = methods?.toSorted().join() === READ.join();
  return newPlace(id, {
    host,
    port: String(port),
    methods: methods === undefined ? 'all' : isRead ? 'read' : 'chosen',
    chosen: isRead ? [] : (methods ?? []),
    paths: (paths ?? []).join('\n'),
    git: git !== undefined,
    push: (git?.push ?? []).join('\n'),
    foreign,
    websocket: websocket === true,
    ask,
    uses: usesPerConversation === undefined ? '' : String(usesPerConversation),
  });
}

/** Fields of a use but for its places; lists as texts. */
function textsOf(use: Credential['use']): Partial<UseValues> {
  if (use.form !== 'github-app') {
    const { places: _, ...rest } = use;
    return rest;
  }
  const { places: _, repositories, permissions, ...rest } = use;
  return {
    ...rest,
    repositories: repositories.join('\n'),
    permissions: Object.entries(permissions)
      .map((entry) => entry.join(': '))
      .join('\n'),
  };
}

/** Whether a value has several lines. */
export const isOfLines = ({ form }: UseValues): boolean => form === 'github-app' || form === 'mtls';

/** The fields of one that is there, without its value. @param id begins the ids of its places. */
export function valuesOf(
  { name, description, scope, scopeValue, use, expiresAt }: Credential,
  id: string,
): CredentialValues {
  const { places } = use;
  return {
    ...newValues(id),
    name,
    description,
    scope,
    scopeValue: scopeValue ?? '',
    lastDay: dayOf(expiresAt),
    use: newUse(
      places.map((place, index) => placeValues(place, `${id}${index}`)),
      textsOf(use),
    ),
  };
}

/** A secret that may move here: its value is one that conversations share. */
export const isMovable = ({ scope }: Secret): boolean =>
  scope === 'org' || scope === 'environment' || scope === 'repository';

/** What is known of a secret fills the form: its name, whom it is for, and for git its host. */
export function movedFrom(values: CredentialValues, secret: Secret): CredentialValues {
  const [first] = values.use.places;
  const fills = secret.kind === 'git' && first !== undefined && first.host === '';
  return {
    ...values,
    fromSecret: secret.id,
    value: '',
    clientSecret: '',
    name: secret.name,
    description: values.description === '' ? secret.description : values.description,
    scope: secret.scope,
    scopeValue: secret.scopeValue ?? '',
    use: fills
      ? newUse([gitPlace(first.id, secret.host ?? '')], {
          form: 'basic',
          ...(secret.username === null ? {} : { username: secret.username }),
        })
      : values.use,
  };
}

/** A git host, of which agents may read everything and push to their own branches. */
export function gitPlace(id: string, hostAndPort: string): PlaceValues {
  const [host = '', port = '443'] = hostAndPort.split(':');
  return newPlace(id, { host, port, git: true, push: 'refs/heads/slipway/**' });
}
