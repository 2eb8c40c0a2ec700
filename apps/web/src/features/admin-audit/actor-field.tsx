'use client';
import type { Member } from '@slipway/contracts/organizations';
import { Combobox } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { type ComponentProps, useState } from 'react';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import type { Translate } from '../../messages/translate.ts';
import { type Pages, usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';

/** Ids have no blank and a digit somewhere; what else is typed only searches. */
const ID = /^(?=.*\d)\S{8,200}$/;

/** Who did it: a member by name, or any id, such as that of a key's owner or of somebody who has left. */
export function ActorField({
  control,
  actor,
  names,
  onChange,
}: {
  /** What the field that it stands in gives to its control. */
  control: Pick<ComponentProps<typeof Combobox>, 'id'>;
  /** Id of the actor that the list is of. */
  actor: string | null;
  /** Names of actors in the entries that are shown. */
  names: Readonly<Record<string, string>>;
  onChange: (actor: string | null) => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const [opened, setOpened] = useState(false);
  const [typed, setTyped] = useState<string | null>(null);
  const search = (typed ?? '').trim();
  const found = usePages({
    key: ['members', org.id, search, 'audit'],
    read: (cursor, signal) =>
      api.listMembers({ org: org.id, query: { limit: 20, ...(search === '' ? {} : { search }), ...cursor }, signal }),
    enabled: opened,
  });
  const known = found.rows.find(({ userId }) => userId === actor)?.name;
  const shown = typed ?? (actor === null ? '' : (known ?? names[actor] ?? actor));
  return (
    <Combobox
      {...control}
      placeholder={t('adminAudit.anyone')}
      listLabel={t('adminAudit.users')}
      value={shown}
      options={found.rows.map(({ userId, name, email }) => ({
        key: userId,
        text: name,
        label: (
          <>
            <span className="min-w-0 flex-1 truncate">{name}</span>
            <span className="shrink-0 text-xs text-ink-muted">{email}</span>
          </>
        ),
      }))}
      note={noteOf(t, found)}
      busy={found.pending && opened}
      more={found.more}
      onOpenChange={(open) => open && setOpened(true)}
      onChange={(text) => {
        setTyped(text);
        if (text.trim() === '') onChange(null);
      }}
      onChoose={({ key }) => {
        setTyped(null);
        onChange(key);
      }}
      onBlur={() => {
        if (ID.test(search)) onChange(search);
        setTyped(null);
      }}
    />
  );
}

/** That the users could not be read, or that none is of that name. */
function noteOf(t: Translate, { error, pending, rows }: Pages<Member>): string | null {
  if (error !== null) return `${failureOf(error).title}.`;
  return pending || rows.length > 0 ? null : t('adminAudit.noUserMatches');
}
