'use client';
import { Badge, Section } from '@slipway/ui';
import { UsageDataField } from '../analytics/usage-data-field.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useMe } from '../session/me.ts';
import { useMySettings } from '../settings/use-my-settings.ts';
import { GitAuthorForm } from './git-author-form.tsx';
import { ThemeField } from './theme-field.tsx';

export function Profile() {
  const me = useMe().data;
  const settings = useMySettings();
  return (
    <Page title="Profile" description="Who you are, in every organization." narrow>
      <Section title="Account" description="Name and address come from the service that you sign in with, and are changed there.">
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2 rounded-lg border border-line bg-surface p-4 text-sm">
          <dt className="text-ink-muted">Name</dt>
          <dd className="break-words">{me?.name}</dd>
          <dt className="text-ink-muted">E-mail</dt>
          <dd className="flex flex-wrap items-center gap-2 break-all">
            {me?.email ?? 'None'}
            {me?.email ? <Badge tone={me.emailVerified ? 'ok' : 'warn'}>{me.emailVerified ? 'Confirmed' : 'Not confirmed'}</Badge> : null}
          </dd>
        </dl>
      </Section>
      <Section title="Commits" description="Whom git names as the author of what an agent commits for you.">
        <QueryPanel query={settings} label="Your settings">
          {(data) => <GitAuthorForm key={data.version} settings={data} />}
        </QueryPanel>
      </Section>
      <Section title="Appearance">
        <ThemeField />
      </Section>
      <Section title="Privacy" description="Whether those who run this installation may see how you use it. Off until you turn it on.">
        <QueryPanel query={settings} label="Your settings">
          {(data) => <UsageDataField settings={data} />}
        </QueryPanel>
      </Section>
    </Page>
  );
}
