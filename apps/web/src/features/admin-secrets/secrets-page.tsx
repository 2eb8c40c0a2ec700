'use client';
import { ListSecretsQuery } from '@slipway/contracts';
import { Button, EmptyState, Section, Select } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { useAddressValue } from '../../browser/address.ts';
import { Page } from '../frame/page.tsx';
import { ListPanel } from '../list/list-panel.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';
import { NewSecretDialog, type Whose } from './secret-form.tsx';
import { SecretsTable } from './secrets-table.tsx';

const ANY = 'any';
const SCOPES = [
  { value: ANY, label: 'Any scope' },
  { value: 'org', label: 'For every conversation' },
  { value: 'environment', label: 'For an environment' },
  { value: 'repository', label: 'For a repository' },
  { value: 'conversation', label: 'For one conversation' },
];

export function SecretsPage() {
  const { org } = useSession();
  const queries = useQueryClient();
  const [creating, setCreating] = useState<Whose | null>(null);
  const [filter, setFilter] = useAddressValue('scope');
  const scope = ListSecretsQuery.shape.scope.safeParse(filter ?? undefined).data;
  const mayChange = org.permissions.includes('secret:write');
  const works = org.permissions.includes('conversation:create');
  const secrets = usePages({
    key: ['secrets', org.id, scope ?? ANY],
    read: (cursor, signal) => api.listSecrets({ org: org.id, query: { ...cursor, ...(scope === undefined ? {} : { scope }) }, signal }),
  });
  const mine = useQuery({ queryKey: ['my-secrets', org.id], queryFn: ({ signal }) => api.listMySecrets({ org: org.id, signal }), enabled: works });
  const changed = () => {
    void queries.invalidateQueries({ queryKey: ['secrets', org.id] });
    void queries.invalidateQueries({ queryKey: ['my-secrets', org.id] });
  };
  return (
    <Page
      title="Secrets"
      description="Given to sandboxes by name. What a secret is can be replaced, never read. An agent that is given one can use it wherever its network lets it go."
      action={
        mayChange ? (
          <Button tone="primary" onClick={() => setCreating('org')}>
            New secret
          </Button>
        ) : null
      }
    >
      <Select aria-label="Scope" className="w-52" options={SCOPES} value={scope ?? ANY} onChange={(value) => setFilter(value === ANY ? null : value, 'push')} />
      <ListPanel
        list={secrets}
        noun="secrets"
        filtered={scope === undefined ? null : () => setFilter(null)}
        empty={
          <EmptyState title="The organization has no secrets" className="rounded-lg border border-line">
            {mayChange ? 'Keep a token here instead of in a prompt or in the repository.' : 'An admin can keep some here.'}
          </EmptyState>
        }
      >
        {(rows) => <SecretsTable label="Secrets" secrets={rows} whose="org" mayChange={mayChange} onChanged={changed} />}
      </ListPanel>
      {works ? (
        <Section
          title="Your own"
          description="Given to the conversations that you start in this organization, and to nobody else’s."
          action={<Button onClick={() => setCreating('mine')}>New secret of your own</Button>}
        >
          <QueryPanel query={mine} label="Your own secrets">
            {({ data }) =>
              data.length === 0 ? (
                <EmptyState title="You have none here" className="rounded-lg border border-line">
                  A git token of yours lets agents clone and push as you.
                </EmptyState>
              ) : (
                <SecretsTable label="Your own secrets" secrets={data} whose="mine" mayChange onChanged={changed} />
              )
            }
          </QueryPanel>
        </Section>
      ) : null}
      {creating === null ? null : (
        <NewSecretDialog
          whose={creating}
          open
          onClose={() => setCreating(null)}
          onMade={(secret) => {
            toast(`${secret.name} is kept.`);
            setCreating(null);
            changed();
          }}
        />
      )}
    </Page>
  );
}
