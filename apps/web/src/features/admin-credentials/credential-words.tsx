'use client';
import type { Credential, CredentialForm, Place } from '@slipway/contracts/credentials';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { repositoryName } from '../../browser/format.ts';
import type { MessageKey, Option } from '../../messages/translate.ts';

export const FORMS: Record<CredentialForm, { readonly label: MessageKey; readonly means: MessageKey }> = {
  bearer: { label: 'adminCredentials.bearer', means: 'adminCredentials.bearerMeans' },
  basic: { label: 'adminCredentials.basic', means: 'adminCredentials.basicMeans' },
  header: { label: 'adminCredentials.header', means: 'adminCredentials.headerMeans' },
  'oauth-client-credentials': { label: 'adminCredentials.oauth', means: 'adminCredentials.oauthMeans' },
  'token-exchange': { label: 'adminCredentials.exchange', means: 'adminCredentials.exchangeMeans' },
  'oauth-refresh-token': { label: 'adminCredentials.refresh', means: 'adminCredentials.refreshMeans' },
  'github-app': { label: 'adminCredentials.githubApp', means: 'adminCredentials.githubAppMeans' },
  mtls: { label: 'adminCredentials.mtls', means: 'adminCredentials.mtlsMeans' },
  'workload-token': { label: 'adminCredentials.workload', means: 'adminCredentials.workloadMeans' },
  'aws-sigv4': { label: 'adminCredentials.awsSigv4', means: 'adminCredentials.awsSigv4Means' },
  placeholder: { label: 'adminCredentials.placeholder', means: 'adminCredentials.placeholderMeans' },
};
export const FORM_OPTIONS: readonly Option[] = Object.entries(FORMS).map(([value, { label }]) => ({ value, label }));

/** Places of a credential that its row shows; the rest is counted. */
const SHOWN_PLACES = 3;

const code = (chunks: ReactNode) => <code className="font-mono text-xs break-words">{chunks}</code>;

/** How the value is sent. */
export function FormWords({ use }: { use: Credential['use'] }) {
  const t = useTranslations();
  if (use.form !== 'header') return t(FORMS[use.form].label);
  return <span>{t.rich('adminCredentials.headerNamed', { header: use.header, code })}</span>;
}

/** Where the value is sent, and what such a request may ask. */
export function PlacesWords({ places }: { places: readonly Place[] }) {
  const t = useTranslations();
  return (
    <ul className="flex min-w-0 flex-col gap-1">
      {places.slice(0, SHOWN_PLACES).map((place) => (
        <li key={JSON.stringify(place)} className="min-w-0">
          <bdi dir="ltr" className="block font-mono text-xs font-medium break-words">
            {place.host}
            {place.port === 443 ? '' : `:${place.port}`}
          </bdi>
          <span className="block text-xs text-ink-muted">
            <PlaceWords place={place} />
            <Limits place={place} />
          </span>
        </li>
      ))}
      {places.length > SHOWN_PLACES ? (
        <li className="text-xs text-ink-muted">
          {t('adminCredentials.morePlaces', { count: places.length - SHOWN_PLACES })}
        </li>
      ) : null}
    </ul>
  );
}

function PlaceWords({ place: { methods, paths, git } }: { place: Place }) {
  const t = useTranslations();
  if (git !== undefined)
    return (
      <>
        {t('adminCredentials.git')}
        {paths === undefined ? '' : `, ${t('adminCredentials.repositoryCount', { count: paths.length })}`}
        {', '}
        {git.push.length === 0
          ? t('adminCredentials.readsOnly')
          : t.rich('adminCredentials.pushes', { branches: git.push.join(', '), code })}
      </>
    );
  const asked = methods === undefined ? t('adminCredentials.allMethods') : methods.join(', ');
  const where =
    paths === undefined ? t('adminCredentials.everyPath') : t('adminCredentials.pathCount', { count: paths.length });
  return `${asked}, ${where}`;
}

/** Whether a user is asked, and how often it is used. */
function Limits({ place: { ask = 'never', usesPerConversation } }: { place: Place }) {
  const t = useTranslations();
  const words = [
    ...(ask === 'never' ? [] : [t(ask === 'each-use' ? 'adminCredentials.asksEach' : 'adminCredentials.asksFirst')]),
    ...(usesPerConversation === undefined ? [] : [t('adminCredentials.usesAtMost', { count: usesPerConversation })]),
  ];
  return words.map((each) => `, ${each}`).join('');
}

/** Whose conversations use it. */
export function ScopeWords({ credential: { scope, scopeValue } }: { credential: Credential }) {
  const t = useTranslations();
  if (scopeValue === null) return t('adminCredentials.inAll');
  if (scope === 'repository') return <span className="break-all">{repositoryName(scopeValue)}</span>;
  return <span>{t.rich('adminCredentials.inEnvironment', { scopeValue, code })}</span>;
}
