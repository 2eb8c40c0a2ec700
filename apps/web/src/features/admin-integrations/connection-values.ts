import { DEFAULT_PROCESSORS, type IntegrationConnection, type ThreadProcessors } from '@slipway/contracts/integrations';

/** A row of the list of places; its key tells rows apart while they are typed. */
export interface PlaceValues {
  readonly key: number;
  readonly place: string;
  readonly repository: string;
}

/** Of a connection, as its form has it: lists as text. */
export interface ConnectionValues {
  readonly name: string;
  readonly token: string;
  readonly settings: {
    readonly labels: string;
    readonly bots: string;
    readonly confidential: boolean;
    readonly defaultRepository: string;
    readonly baseUrl: string;
    /** By itself, when the agent has finished. */
    readonly publishes: boolean;
    /** Those that are left empty are left out. */
    readonly repositories: readonly PlaceValues[];
    readonly processors: ThreadProcessors;
    /** Rounds on failed checks by itself; `0`: it is offered. */
    readonly fixRounds: number;
  };
  readonly own: { readonly mention: string; readonly ids: string };
}

/** Of a new one, with what cannot be changed later. */
export interface NewConnectionValues extends ConnectionValues {
  readonly kind: string;
  readonly host: string;
  readonly webhookSecret: string;
}

/** @param connection `null`: a new one. */
export function valuesOf(connection: IntegrationConnection | null): ConnectionValues {
  const { settings, own } = connection ?? { settings: null, own: null };
  return {
    name: connection?.name ?? '',
    token: '',
    settings: {
      labels: (settings?.labels ?? ['slipway']).join(', '),
      bots: settings?.bots.join(', ') ?? '',
      confidential: settings?.confidential ?? false,
      defaultRepository: settings?.defaultRepository ?? '',
      baseUrl: settings?.baseUrl ?? '',
      publishes: settings?.publish !== 'offered',
      repositories: (settings?.repositories ?? []).map((each, key) => ({ key, ...each })),
      processors: settings?.processors ?? DEFAULT_PROCESSORS,
      fixRounds: settings?.fixChecks === 'automatic' ? settings.fixRounds : 0,
    },
    own: { mention: own?.mention ?? 'slipway', ids: own?.ids.join(', ') ?? '' },
  };
}

/**
 * What the form means for `PATCH`. Settings and identity are replaced whole, so fields that this page does not show are
 * carried over.
 */
export function changeOf(values: ConnectionValues, connection: IntegrationConnection | null): object {
  return {
    name: values.name,
    ...(values.token.trim() === '' ? {} : { token: values.token }),
    settings: {
      ...connection?.settings,
      labels: listOf(values.settings.labels),
      bots: listOf(values.settings.bots),
      confidential: values.settings.confidential,
      defaultRepository: values.settings.defaultRepository.trim() || null,
      baseUrl: values.settings.baseUrl.trim() || null,
      publish: values.settings.publishes ? 'automatic' : 'offered',
      repositories: values.settings.repositories
        .map(({ place, repository }) => ({ place: place.trim(), repository: repository.trim() }))
        .filter(({ place, repository }) => place !== '' || repository !== ''),
      processors: values.settings.processors,
      fixChecks: values.settings.fixRounds > 0 ? 'automatic' : 'offered',
      ...(values.settings.fixRounds > 0 ? { fixRounds: values.settings.fixRounds } : {}),
    },
    own: { ...connection?.own, mention: values.own.mention.trim().replace(/^@/, ''), ids: listOf(values.own.ids) },
  };
}

/** The same for `POST`; what is empty is left to the server. */
export function creationOf(provider: string, values: NewConnectionValues): object {
  return {
    provider,
    ...changeOf(values, null),
    ...(values.kind === '' ? {} : { kind: values.kind }),
    ...(values.host.trim() === '' ? {} : { host: hostOf(values.host) }),
    ...(values.webhookSecret === '' ? {} : { webhookSecret: values.webhookSecret.trim() }),
  };
}

/** People paste addresses: the host of one is meant. */
export function hostOf(typed: string): string {
  const text = typed.trim();
  return URL.canParse(text) && text.includes('://') ? new URL(text).host : text;
}

/** Separated by commas or lines; each once. */
export function listOf(text: string): string[] {
  return [...new Set(text.split(/[,\n]/).map((item) => item.trim()))].filter((item) => item !== '');
}
