'use client';
import { cn, Dialog, Kbd } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { Command as Cmdk } from 'cmdk';
import { useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { type ReactNode, useEffect, useState } from 'react';
import { api } from '../../api/client.ts';
import { adminTabs } from '../admin/tabs.ts';
import { useSession } from '../session/me.ts';
import { keysOf } from './bindings.ts';
import { type Place, useCommandContext } from './command-context.tsx';
import { COMMAND_GROUPS, COMMANDS, type CommandId } from './commands.ts';
import { displayOf } from './press.ts';
import { useAvailableCommands } from './use-available-commands.ts';

/** Quiet time after the last letter, before the server is asked. Milliseconds. */
const SETTLE_MS = 150;
/** Conversations that are offered. */
const MOST = 6;
/** Turns that are offered where they alone are. */
const MOST_TURNS = 100;

/** Closes the palette, then acts. */
type Pick = (act: () => void) => () => void;

const GROUP_LABELS = {
  navigation: 'commands.navigation',
  conversation: 'common.conversation',
  page: 'commands.thisPage',
  account: 'commands.account',
} as const;

/**
 * Places, commands of this page and conversations, found by letters of their names.
 * @param turnsOnly the places of the open page alone
 */
export default function Palette({
  turnsOnly,
  words: search,
  setWords: setSearch,
  close,
}: {
  turnsOnly: boolean;
  /** What has been typed, some of it perhaps before this was there. */
  words: string;
  setWords: (words: string) => void;
  close: () => void;
}) {
  const t = useTranslations();
  const pick: Pick = (act) => () => {
    close();
    act();
  };
  const title = t(turnsOnly ? 'commands.turns' : 'commands.palette');
  return (
    <Dialog open onOpenChange={close} title={title} className="top-[12dvh] translate-y-0">
      <Cmdk label={title} loop className="flex flex-col">
        <div className="border-b border-line p-2">
          <Cmdk.Input
            data-autofocus
            value={search}
            onValueChange={setSearch}
            placeholder={t(turnsOnly ? 'commands.typeWordsOfAMessage' : 'commands.typeACommandOrSearch')}
            className="h-9 w-full rounded-md bg-transparent px-2 text-sm outline-none placeholder:text-ink-muted"
          />
        </div>
        <Cmdk.List className="max-h-[50dvh] overflow-auto p-2">
          <Cmdk.Empty className="px-2 py-3 text-sm text-ink-muted">
            {t(turnsOnly ? 'commands.noTurnMatches' : 'commands.nothingMatches')}
          </Cmdk.Empty>
          {turnsOnly ? null : <Offered pick={pick} />}
          <Places search={search} most={turnsOnly ? MOST_TURNS : search.trim() === '' ? 0 : MOST} pick={pick} />
          {turnsOnly ? null : <FoundConversations search={search} pick={pick} />}
        </Cmdk.List>
      </Cmdk>
    </Dialog>
  );
}

/** Commands, places of the organization and other organizations: what is known without the server. */
function Offered({ pick }: { pick: Pick }) {
  const t = useTranslations();
  const { me, org } = useSession();
  const { keys } = useCommandContext();
  const { ids, run } = useAvailableCommands();
  const router = useRouter();
  const shortcut = (id: CommandId): ReactNode => {
    const bound = keysOf(id, keys);
    return bound === null ? null : displayOf(bound).map((press) => <Kbd key={press}>{press}</Kbd>);
  };
  const offered = ids.filter((id) => COMMANDS[id].keysOnly !== true);
  return (
    <>
      {COMMAND_GROUPS.map((group) => {
        const inGroup = offered.filter((id) => COMMANDS[id].group === group);
        if (inGroup.length === 0) return null;
        return (
          <Group key={group} heading={t(GROUP_LABELS[group])}>
            {inGroup.map((id) => (
              <Item key={id} value={id} words={[t(COMMANDS[id].label)]} pick={pick(() => run(id))}>
                <span className="flex-1">{t(COMMANDS[id].label)}</span>
                <span className="flex gap-1 text-ink-muted">{shortcut(id)}</span>
              </Item>
            ))}
          </Group>
        );
      })}
      <Group heading={t('commands.pages')}>
        {adminTabs(org).map(({ path, label }) => (
          <Item
            key={path}
            value={`admin ${path}`}
            words={[t(label), t('commands.goToAdmin')]}
            pick={pick(() => router.push(`/${org.slug}/admin/${path}`))}
          >
            {t(label)}
          </Item>
        ))}
      </Group>
      {me.orgs.length < 2 ? null : (
        <Group heading={t('commands.organizations')}>
          {me.orgs
            .filter(({ id }) => id !== org.id)
            .map(({ id, name, slug }) => (
              <Item key={id} value={`org ${id}`} words={[name, slug]} pick={pick(() => router.push(`/${slug}`))}>
                <bdi>{name}</bdi>
              </Item>
            ))}
        </Group>
      )}
    </>
  );
}

/** Turns of the open conversation, the newest first. */
function Places({ search, most, pick }: { search: string; most: number; pick: Pick }) {
  const t = useTranslations();
  const { places } = useCommandContext();
  const wanted = search.trim().toLowerCase();
  const found: Place[] = [];
  for (const place of most === 0 ? [] : (places?.() ?? [])) {
    if (found.length === most) break;
    if (place.text.toLowerCase().includes(wanted)) found.push(place);
  }
  if (found.length === 0) return null;
  return (
    <Group heading={t('commands.turns')}>
      {found.map(({ key, text, go }) => (
        <Item key={key} value={`place ${key}`} words={[text, search]} pick={pick(go)}>
          <span dir="auto" className="min-w-0 flex-1 truncate">
            {text}
          </span>
        </Item>
      ))}
    </Group>
  );
}

/** Below what is local, so that nothing moves under the pointer when the server has answered. */
function FoundConversations({ search, pick }: { search: string; pick: Pick }) {
  const t = useTranslations();
  const { org } = useSession();
  const router = useRouter();
  const [settled, setSettled] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSettled(search.trim()), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [search]);
  const found = useQuery({
    queryKey: ['palette', org.id, settled],
    queryFn: ({ signal }) =>
      api.listConversations({
        org: org.id,
        query: { limit: MOST, sort: 'updated', ...(settled === '' ? {} : { search: settled.slice(0, 200) }) },
        signal,
      }),
    placeholderData: (before) => before,
  });
  const rows = found.data?.data ?? [];
  if (found.isError)
    return (
      <p role="status" className="px-2 py-2 text-sm text-ink-muted">
        {t('commands.conversationsCouldNotBeRead')}
      </p>
    );
  if (rows.length === 0) return null;
  return (
    <Group heading={t('common.conversations')}>
      {rows.map(({ id, title, repository }) => (
        <Item
          key={id}
          value={`conversation ${id}`}
          // What the server has found is shown, by whatever of it.
          words={[title, search]}
          pick={pick(() => router.push(`/${org.slug}/conversations/${id}`))}
        >
          <span dir="auto" className="min-w-0 flex-1 truncate">
            {title}
          </span>
          {repository === null ? null : <span className="max-w-40 truncate text-xs text-ink-muted">{repository}</span>}
        </Item>
      ))}
    </Group>
  );
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Cmdk.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-muted"
    >
      {children}
    </Cmdk.Group>
  );
}

function Item({
  value,
  words,
  pick,
  children,
}: {
  value: string;
  words: string[];
  pick: () => void;
  children: ReactNode;
}) {
  return (
    <Cmdk.Item
      value={value}
      keywords={words}
      onSelect={pick}
      className={cn(
        'flex min-h-8 touch:min-h-11 cursor-default items-center gap-2 rounded-md px-2 py-1 text-sm',
        'data-[selected=true]:bg-raised',
      )}
    >
      {children}
    </Cmdk.Item>
  );
}
