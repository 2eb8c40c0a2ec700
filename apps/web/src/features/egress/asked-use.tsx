'use client';
import { type AskedUse, EACH_USE_MINUTES } from '@slipway/contracts/credentials';
import { EGRESS_ONCE_SECONDS, type EgressRequest } from '@slipway/contracts/sandboxes';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { bytes } from '../../browser/format.ts';
import { visibleText } from '../conversation/visible-text.ts';
import { requestText } from './egress-words.ts';

/** A credential that the sandbox asks to use, for which request, and what that would send. */
export function AskedUseLine({ request, use }: { request: EgressRequest; use: AskedUse }) {
  const t = useTranslations();
  return (
    <>
      <p className="text-sm text-ink [overflow-wrap:anywhere]">
        {t.rich(use.refs.length === 0 ? 'egress.useCredential' : 'egress.useCredentialForPush', {
          name: () => <Plain strong>{visibleText(use.credential.name)}</Plain>,
          request: () => <Plain>{requestText(request, use)}</Plain>,
        })}
      </p>
      <ul className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-muted">
        <li>{t(use.ask === 'each-use' ? 'egress.asksForEachUse' : 'egress.asksForFirstUse')}</li>
        <li className="[overflow-wrap:anywhere]">
          <Body use={use} />
        </li>
        {use.queryBytes === null ? null : <li>{t('egress.withQuery', { size: bytes(use.queryBytes) })}</li>}
        {use.refs.length === 0 ? null : (
          <li className="[overflow-wrap:anywhere]">
            {t('egress.branches', { count: use.refs.length, refs: use.refs.map(visibleText).join(', ') })}
          </li>
        )}
      </ul>
    </>
  );
}

/** How far each yes reaches. */
export function UseMeans({ use }: { use: AskedUse }) {
  const t = useTranslations();
  return (
    <p className="text-xs text-ink-muted [overflow-wrap:anywhere]">
      {use.ask === 'each-use'
        ? t('egress.onceIsOneRequest', { minutes: EACH_USE_MINUTES })
        : t('egress.onceIsThisPath', { seconds: EGRESS_ONCE_SECONDS, place: visibleText(use.place) })}
    </p>
  );
}

function Body({ use: { bodyBytes, bodyType } }: { use: AskedUse }) {
  const t = useTranslations();
  const type = bodyType === null ? t('egress.ofUnknownType') : visibleText(bodyType);
  if (bodyBytes === 0) return t('egress.noBody');
  return bodyBytes === null
    ? t('egress.bodyOfUnknownSize', { type })
    : t('egress.body', { size: bytes(bodyBytes), type });
}

/** In plain text and one direction of writing. */
function Plain({ children, strong = false }: { children: ReactNode; strong?: boolean }) {
  return (
    <bdi dir="ltr" className={`font-mono [overflow-wrap:anywhere] ${strong ? 'font-semibold' : ''}`}>
      {children}
    </bdi>
  );
}
