'use client';
import type { EgressRule } from '@slipway/contracts/sandboxes';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { Ahead } from '../../browser/ago.tsx';
import { useSession } from '../session/me.ts';

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
