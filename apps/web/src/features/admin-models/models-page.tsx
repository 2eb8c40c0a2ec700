'use client';
import type { LlmProfile } from '@slipway/contracts';
import { Badge, Button, type Column, EmptyState, Section, Table } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { Deployments } from './deployments.tsx';
import { ProfileActions } from './profile-actions.tsx';
import { ProfileDialog } from './profile-form.tsx';

export function ModelsPage() {
  const { org } = useSession();
  const queries = useQueryClient();
  const [creating, setCreating] = useState(false);
  const mayChange = org.permissions.includes('setting:write');
  const profiles = useQuery({ queryKey: ['llm-profiles', org.id], queryFn: ({ signal }) => api.listLlmProfiles({ org: org.id, signal }) });
  const models = useQuery({ queryKey: ['models', org.id], queryFn: ({ signal }) => api.listModels({ org: org.id, signal }) });
  const changed = () => {
    void queries.invalidateQueries({ queryKey: ['llm-profiles', org.id] });
    void queries.invalidateQueries({ queryKey: ['models', org.id] });
  };
  return (
    <Page
      title="Models"
      description="What agents may think with. A profile is a model of a provider with the organization’s own key; its calls go there and nowhere else."
      action={
        mayChange ? (
          <Button tone="primary" onClick={() => setCreating(true)}>
            New profile
          </Button>
        ) : null
      }
    >
      <QueryPanel query={profiles} label="The profiles">
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title="The organization has no profiles" className="rounded-lg border border-line">
              {mayChange ? 'Bring a model with a key of your own. Until then agents use the models below.' : 'An admin can add some here.'}
            </EmptyState>
          ) : (
            <Profiles profiles={data} mayChange={mayChange} onChanged={changed} />
          )
        }
      </QueryPanel>
      <Section
        title="For everybody here"
        description="Models of this installation; who runs it pays their provider, and the organization’s budget counts them."
      >
        <QueryPanel query={models} label="The models">
          {({ data }) => (
            <ul className="flex flex-wrap gap-2">
              {data
                .filter((model) => model.profile !== true)
                .map((model) => (
                  <li key={model.id} className="rounded-md border border-line px-2 py-1 font-mono text-sm break-all">
                    {model.id}
                    {model.demo ? <span className="font-sans text-ink-muted"> (scripted)</span> : null}
                  </li>
                ))}
            </ul>
          )}
        </QueryPanel>
      </Section>
      <Deployments />
      {creating ? (
        <ProfileDialog
          profile={null}
          onClose={() => setCreating(false)}
          onDone={(profile) => {
            toast(`${profile.name} can be chosen for new tasks.`);
            setCreating(false);
            changed();
          }}
        />
      ) : null}
    </Page>
  );
}

function Profiles({ profiles, mayChange, onChanged }: { profiles: readonly LlmProfile[]; mayChange: boolean; onChanged: () => void }) {
  const columns: Column<LlmProfile>[] = [
    {
      label: 'Name',
      phone: 'title',
      cell: (profile) => (
        <span className="flex min-w-0 flex-wrap items-center gap-2">
          <span className="break-words">{profile.name}</span>
          {profile.default ? <Badge tone="ok">Default</Badge> : null}
        </span>
      ),
    },
    { label: 'Model', cell: (profile) => <code className="font-mono text-sm break-all">{profile.model}</code> },
    {
      label: 'Address',
      cell: (profile) =>
        profile.baseUrl === null ? <span className="text-ink-muted">the provider’s own</span> : <span className="break-all">{profile.baseUrl}</span>,
    },
    { label: 'Key', cell: (profile) => (profile.hasApiKey ? 'kept' : <span className="text-ink-muted">none</span>) },
    { label: 'Changed', cell: (profile) => <Ago at={profile.updatedAt} /> },
    {
      label: 'Actions',
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (profile) => (mayChange ? <ProfileActions profile={profile} onChanged={onChanged} /> : null),
    },
  ];
  return <Table label="Profiles" columns={columns} rows={profiles} rowKey={(profile) => profile.id} />;
}
