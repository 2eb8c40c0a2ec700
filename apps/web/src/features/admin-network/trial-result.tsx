'use client';
import type { EgressEffect, EgressTrial, EgressTrialCount } from '@slipway/contracts/sandboxes';
import { EGRESS_EFFECTS, EGRESS_TRAFFIC_DAYS } from '@slipway/contracts/sandboxes';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { number } from '../../browser/format.ts';
import type { MessageKey, Translate } from '../../messages/translate.ts';
import { hostText } from '../egress/egress-words.ts';
import { useSession } from '../session/me.ts';

const EFFECT_WORDS: Readonly<Record<EgressEffect, MessageKey>> = {
  refused: 'adminNetwork.wouldBeRefused',
  asked: 'adminNetwork.wouldBeAsked',
  allowed: 'adminNetwork.wouldBeAllowed',
};

/** What a change of rules would have done in the last 30 days. */
export function TrialResult({ trial }: { trial: EgressTrial }) {
  const t = useTranslations();
  const effects = EGRESS_EFFECTS.filter((effect) => trial[effect].connections > 0);
  return (
    <section
      aria-label={t('adminNetwork.onTheLastDays', { days: EGRESS_TRAFFIC_DAYS })}
      className="flex min-w-0 flex-col gap-2 rounded-md border border-line bg-raised px-3 py-2.5 text-sm"
    >
      {trial.letThrough === null ? null : (
        <p>{t('adminNetwork.itLetThrough', { days: EGRESS_TRAFFIC_DAYS, what: countText(t, trial.letThrough) })}</p>
      )}
      {effects.length === 0 ? (
        <p>{t('adminNetwork.nothingWouldHaveChanged', { days: EGRESS_TRAFFIC_DAYS })}</p>
      ) : (
        <ul className="flex flex-col gap-1">
          {effects.map((effect) => (
            <li key={effect}>{effectText(t, effect, countText(t, trial[effect]))}</li>
          ))}
        </ul>
      )}
      {trial.limited ? <p className="text-xs text-ink-muted">{t('adminNetwork.requestsAreNotCounted')}</p> : null}
      {trial.complete ? null : <p className="text-xs text-warn">{t('adminNetwork.notAllWasLookedAt')}</p>}
      {trial.hosts.length === 0 ? null : <Concerned trial={trial} />}
    </section>
  );
}

/** Hosts and conversations, on demand. */
function Concerned({ trial }: { trial: EgressTrial }) {
  const t = useTranslations();
  const { org } = useSession();
  return (
    <details className="min-w-0 text-xs">
      <summary className="cursor-pointer text-accent">{t('adminNetwork.hostsAndConversations')}</summary>
      <ul aria-label={t('adminNetwork.hosts')} className="mt-2 flex max-h-40 flex-col gap-1 overflow-auto">
        {trial.hosts.map((host) => (
          <li key={`${host.host} ${host.port} ${host.effect}`} className="[overflow-wrap:anywhere]">
            <bdi dir="ltr" className="font-mono font-medium">
              {hostText(host)}
            </bdi>
            {' · '}
            {t(EFFECT_WORDS[host.effect])}
            {' · '}
            {t('adminNetwork.connectionCount', { connections: host.connections, count: number(host.connections) })}
          </li>
        ))}
      </ul>
      {trial.conversations.length === 0 ? null : (
        <ul aria-label={t('adminNetwork.conversations')} className="mt-2 flex max-h-40 flex-col gap-1 overflow-auto">
          {trial.conversations.map(({ id, title, connections }) => (
            <li key={id} className="[overflow-wrap:anywhere]">
              <Link href={`/${org.slug}/conversations/${id}?tab=network`} className="text-accent hover:underline">
                {title.trim() === '' ? id.slice(0, 8) : title}
              </Link>
              {' · '}
              {t('adminNetwork.connectionCount', { connections, count: number(connections) })}
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}

/** "3 connections to 2 hosts of 1 conversation". */
function countText(t: Translate, { connections, hosts, conversations }: EgressTrialCount): string {
  return t('adminNetwork.connectionsToHosts', {
    connections,
    count: number(connections),
    hosts,
    conversations,
  });
}

function effectText(t: Translate, effect: EgressEffect, what: string): string {
  switch (effect) {
    case 'refused':
      return t('adminNetwork.refusedSentence', { what });
    case 'asked':
      return t('adminNetwork.askedSentence', { what });
    case 'allowed':
      return t('adminNetwork.allowedSentence', { what });
  }
}
