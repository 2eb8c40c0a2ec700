'use client';
import type { ModelDeployment, ModelDeploymentTest } from '@slipway/contracts/models';
import { Badge, Button, type Column, EmptyState, Section, StatusChip, Table } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { failureOf, failureOfCode } from '../../api/failure.ts';
import { Ago, asAhead } from '../../browser/ago.tsx';
import { number } from '../../browser/format.ts';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { shortTime, stateOf } from './deployment-words.ts';

/** Milliseconds. */
const REFRESH_MS = 5_000;

/** How the places behind the installation's models fare. */
export function Deployments() {
  const t = useTranslations();
  const { org } = useSession();
  const queryKey = ['model-deployments', org.id];
  const places = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.listModelDeployments({ org: org.id, signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Section title={t('adminModels.health')} description={t('adminModels.theDeploymentsThatServeThese')}>
      <QueryPanel query={places} label={t('adminModels.thePlaces')}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title={t('adminModels.noProviderIsConfigured')} className="rounded-lg border border-line">
              {t('adminModels.theDemoModelIsPart')}
            </EmptyState>
          ) : (
            <Places rows={data} mayTest={org.permissions.includes('setting:write')} />
          )
        }
      </QueryPanel>
    </Section>
  );
}

function Places({ rows, mayTest }: { rows: readonly ModelDeployment[]; mayTest: boolean }) {
  const t = useTranslations();
  const columns: Column<ModelDeployment>[] = [
    {
      label: t('adminModels.deployment'),
      phone: 'title',
      className: 'max-w-72',
      cell: (place) => (
        <span className="block min-w-0">
          <span className="block font-medium break-words">{place.id}</span>
          <span className="block text-xs break-words text-ink-muted">
            {place.provider}, {place.providerModel}
            {place.region === null ? '' : `, ${place.region}`}
          </span>
        </span>
      ),
    },
    {
      label: t('common.state'),
      cell: (place) => {
        const { chip, label } = stateOf(t, place);
        return (
          <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
            {chip === null ? <Badge>{label}</Badge> : <StatusChip state={chip} label={label} />}
            {place.openUntil === null ? null : (
              <span className="text-xs text-ink-muted">
                {t.rich('adminModels.until', { openUntil: place.openUntil, ahead: asAhead })}
              </span>
            )}
          </span>
        );
      },
    },
    {
      label: t('adminModels.timeToFirstToken'),
      align: 'end',
      cell: (place) => (place.firstTokenMs === null ? <Nothing /> : shortTime(t, place.firstTokenMs)),
    },
    { label: t('adminModels.inProgress'), align: 'end', cell: (place) => number(place.inFlight) },
    {
      label: t('common.failed'),
      align: 'end',
      cell: (place) =>
        place.calls === 0 ? (
          <Nothing />
        ) : (
          t('adminModels.of', { failures: number(place.failures), calls: number(place.calls) })
        ),
    },
    {
      label: t('adminModels.lastFailure'),
      className: 'max-w-64',
      cell: (place) =>
        place.lastFailure === null ? (
          <Nothing />
        ) : (
          <span className="block min-w-0">
            {failureOfCode(place.lastFailure.code).title}, <Ago at={place.lastFailure.at} className="text-ink-muted" />
          </span>
        ),
    },
    {
      label: t('adminModels.test'),
      unnamed: true,
      align: 'end',
      phone: 'actions',
      className: 'max-w-56',
      cell: (place) => (mayTest ? <Test place={place} /> : null),
    },
  ];
  return <Table label={t('adminModels.deployments')} columns={columns} rows={rows} rowKey={(place) => place.id} />;
}

function Nothing() {
  const t = useTranslations();
  return <span className="text-ink-muted">{t('common.none2')}</span>;
}

/** A call of a few tokens; what came of it stands beside the button until the next one. */
function Test({ place }: { place: ModelDeployment }) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const test = useMutation({
    mutationFn: () => api.testModelDeployment({ org: org.id, deployment: place.id }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['model-deployments', org.id] }),
  });
  return (
    <span className="flex min-w-0 flex-wrap items-center justify-end gap-x-3 gap-y-1">
      <span aria-live="polite" className="min-w-0 text-start text-xs">
        {test.isPending ? (
          <span className="text-ink-muted">{t('adminModels.testing')}</span>
        ) : test.error !== null ? (
          <Bad text={wordsOf(test.error)} />
        ) : (
          <Result of={test.data} />
        )}
      </span>
      <Button busy={test.isPending} aria-label={t('adminModels.test2', { id: place.id })} onClick={() => test.mutate()}>
        {t('adminModels.test')}
      </Button>
    </span>
  );
}

function Result({ of: result }: { of: ModelDeploymentTest | undefined }) {
  const t = useTranslations();
  if (result === undefined) return null;
  if (result.failure !== null)
    return (
      <Bad
        text={result.failure.detail === '' ? `${failureOfCode(result.failure.code).title}.` : result.failure.detail}
      />
    );
  const tokens =
    result.completionTokens === null
      ? ''
      : t('adminModels.tokens', { number: number((result.promptTokens ?? 0) + result.completionTokens) });
  return (
    <span className="text-ok">{t('adminModels.answeredIn', { elapsed: shortTime(t, result.elapsedMs), tokens })}</span>
  );
}

function Bad({ text }: { text: string }) {
  return <span className="block break-words text-bad">{text}</span>;
}

function wordsOf(error: unknown): string {
  const { title, nextStep } = failureOf(error);
  return `${title}. ${nextStep}`;
}
