'use client';
import type { EgressRule } from '@slipway/contracts/sandboxes';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { Ahead } from '../../browser/ago.tsx';
import { useSession } from '../session/me.ts';
import { requestsOf } from './rule-values.ts';

const code = (chunks: ReactNode) => <code className="font-mono text-xs break-all">{chunks}</code>;

/** Whom a rule is for. */
export function Scope({ rule: { scope, scopeValue } }: { rule: EgressRule }) {
  const t = useTranslations();
  const { org } = useSession();
  if (scopeValue === null) return t('adminNetwork.organization');
  switch (scope) {
    case 'repository':
      return <span>{t.rich('adminNetwork.repository', { scopeValue, code })}</span>;
    case 'environment':
      return <span>{t.rich('adminNetwork.inEnvironment', { scopeValue, code })}</span>;
    default:
      return (
        <span>
          {t.rich('adminNetwork.conversation', {
            scopeValue: scopeValue.slice(0, 8),
            a: (chunks) => (
              <Link
                href={`/${org.slug}/conversations/${encodeURIComponent(scopeValue)}`}
                className="font-mono text-xs text-accent hover:underline"
              >
                {chunks}
              </Link>
            ),
          })}
        </span>
      );
  }
}

const SHOWN_PATHS = 3;

/** Which requests a rule is about. */
export function Requests({ rule }: { rule: EgressRule }) {
  const t = useTranslations();
  const requests = requestsOf(rule);
  if (requests === 'all') return <span className="text-ink-muted">{t('adminNetwork.allRequests')}</span>;
  const paths = rule.paths ?? [];
  return (
    <span className="flex min-w-0 flex-col">
      <span>
        {requests === 'read' ? t('adminNetwork.readOnly') : (rule.methods?.join(', ') ?? t('adminNetwork.allMethods'))}
      </span>
      {paths.slice(0, SHOWN_PATHS).map((path) => (
        <bdi key={path} dir="ltr" className="font-mono text-xs break-all">
          {path}
        </bdi>
      ))}
      {paths.length > SHOWN_PATHS ? (
        <span className="text-xs text-ink-muted">
          {t('adminNetwork.morePaths', { count: paths.length - SHOWN_PATHS })}
        </span>
      ) : null}
      {rule.websocket === true ? (
        <span className="text-xs text-ink-muted">{t('adminNetwork.withWebSockets')}</span>
      ) : null}
      {rule.foreign === 'allow' ? (
        <span className="text-xs text-ink-muted">{t('adminNetwork.withOwnCredentials')}</span>
      ) : null}
    </span>
  );
}

/** When a rule ends, as of when the list was read. */
export function Ends({ rule: { expiresAt, once }, now }: { rule: EgressRule; now: number }) {
  const t = useTranslations();
  if (expiresAt === null) return t('common.never');
  if (Date.parse(expiresAt) <= now) return <span className="text-ink-muted">{t('adminNetwork.ended')}</span>;
  return (
    <span>
      <Ahead at={expiresAt} />
      {once ? <span className="text-ink-muted"> · {t('adminNetwork.once')}</span> : null}
    </span>
  );
}
