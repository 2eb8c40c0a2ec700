'use client';
import type { ModelDeployment, ModelDeploymentTest } from '@slipway/contracts';
import { Badge, Button, type Column, EmptyState, Section, StatusChip, Table } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { failureOf, failureOfCode } from '../../api/failure.ts';
import { Ago, Ahead } from '../../browser/ago.tsx';
import { number } from '../../browser/format.ts';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { shortTime, stateOf } from './deployment-words.ts';

/** Milliseconds. */
const REFRESH_MS = 5_000;

/** How the places behind the installation's models fare. */
export function Deployments() {
  const { org } = useSession();
  const queryKey = ['model-deployments', org.id];
  const places = useQuery({ queryKey, queryFn: ({ signal }) => api.listModelDeployments({ org: org.id, signal }), refetchInterval: REFRESH_MS });
  return (
    <Section
      title="Health"
      description="The places that answer to these models, as one gateway sees them. One that fails is left alone for a while, and others of the same model take its calls."
    >
      <QueryPanel query={places} label="The places">
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title="No provider is set up" className="rounded-lg border border-line">
              The demo model is part of the gateway and always answers.
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
  const columns: Column<ModelDeployment>[] = [
    {
      label: 'Place',
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
      label: 'State',
      cell: (place) => {
        const { chip, label } = stateOf(place);
        return (
          <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
            {chip === null ? <Badge>{label}</Badge> : <StatusChip state={chip} label={label} />}
            {place.openUntil === null ? null : (
              <span className="text-xs text-ink-muted">
                until <Ahead at={place.openUntil} />
              </span>
            )}
          </span>
        );
      },
    },
    { label: 'First token', align: 'end', cell: (place) => (place.firstTokenMs === null ? <Nothing /> : shortTime(place.firstTokenMs)) },
    { label: 'Under way', align: 'end', cell: (place) => number(place.inFlight) },
    { label: 'Failed', align: 'end', cell: (place) => (place.calls === 0 ? <Nothing /> : `${number(place.failures)} of ${number(place.calls)}`) },
    {
      label: 'Last failure',
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
    { label: 'Test', unnamed: true, align: 'end', phone: 'actions', className: 'max-w-56', cell: (place) => (mayTest ? <Test place={place} /> : null) },
  ];
  return <Table label="Places" columns={columns} rows={rows} rowKey={(place) => place.id} />;
}

function Nothing() {
  return <span className="text-ink-muted">none</span>;
}

/** A call of a few tokens; what came of it stands beside the button until the next one. */
function Test({ place }: { place: ModelDeployment }) {
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
          <span className="text-ink-muted">Asking it for a word…</span>
        ) : test.error !== null ? (
          <Bad text={wordsOf(test.error)} />
        ) : (
          <Result of={test.data} />
        )}
      </span>
      <Button busy={test.isPending} aria-label={`Test ${place.id}`} onClick={() => test.mutate()}>
        Test
      </Button>
    </span>
  );
}

function Result({ of: result }: { of: ModelDeploymentTest | undefined }) {
  if (result === undefined) return null;
  if (result.failure !== null) return <Bad text={result.failure.detail === '' ? `${failureOfCode(result.failure.code).title}.` : result.failure.detail} />;
  const tokens = result.completionTokens === null ? '' : `, ${number((result.promptTokens ?? 0) + result.completionTokens)} tokens`;
  return <span className="text-ok">{`Answered in ${shortTime(result.elapsedMs)}${tokens}.`}</span>;
}

function Bad({ text }: { text: string }) {
  return <span className="block break-words text-bad">{text}</span>;
}

function wordsOf(error: unknown): string {
  const { title, nextStep } = failureOf(error);
  return `${title}. ${nextStep}`;
}
