'use client';
import { cn, IconButton, Tooltip } from '@slipway/ui';
import {
  Inbox,
  type LucideIcon,
  MessagesSquare,
  PanelLeftClose,
  PanelLeftOpen,
  Settings2,
  SquarePen,
  TextQuote,
} from 'lucide-react';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { useStored } from '../../browser/stored.ts';
import type { Translate } from '../../messages/translate.ts';
import { adminTabs, isAdmin } from '../admin/tabs.ts';
import { useWaitingCount } from '../desk/desk-context.tsx';
import { useSession } from '../session/me.ts';
import { OrgSwitcher } from './org-switcher.tsx';
import { UserMenu } from './user-menu.tsx';

interface Place {
  readonly href: string;
  readonly label: string;
  readonly icon: LucideIcon;
  readonly current: boolean;
  /** What waits there. */
  readonly count?: number;
  /** Left out below 768 px: the Desk holds it. */
  readonly wideOnly?: boolean;
}

function usePlaces(): readonly Place[] {
  const waiting = useWaitingCount();
  const t = useTranslations();
  const { org } = useSession();
  const path = usePathname();
  const home = `/${org.slug}`;
  return [
    { href: home, label: t('common.desk'), icon: Inbox, current: path === home, count: waiting },
    ...(org.permissions.includes('conversation:create')
      ? [{ href: `${home}#new-task`, label: t('common.newTask'), icon: SquarePen, current: false, wideOnly: true }]
      : []),
    {
      href: `${home}/conversations`,
      label: t('common.conversations'),
      icon: MessagesSquare,
      current: path.startsWith(`${home}/conversations`),
    },
    ...(org.permissions.includes('prompt:read')
      ? [
          {
            href: `${home}/prompts`,
            label: t('common.prompts'),
            icon: TextQuote,
            current: path.startsWith(`${home}/prompts`),
          },
        ]
      : []),
    ...(adminTabs(org).length === 0
      ? []
      : [
          {
            href: `${home}/admin`,
            label: isAdmin(org) ? t('frame.admin') : t('common.organization'),
            icon: Settings2,
            current: path.startsWith(`${home}/admin`),
          },
        ]),
  ];
}

/** Left, from 768 px. Folds to icons; the choice is kept in this browser. */
export function Rail() {
  const t = useTranslations();
  const places = usePlaces();
  const [folded, setFolded] = useStored('slipway.rail-folded', 'no');
  const narrow = folded === 'yes';
  return (
    <nav
      aria-label={t('frame.main')}
      className={cn('hidden shrink-0 flex-col border-r border-line bg-surface md:flex', narrow ? 'w-14' : 'w-56')}
    >
      <div className={cn('flex h-12 items-center gap-1 px-1.5', narrow && 'justify-center px-0')}>
        <OrgSwitcher narrow={narrow} />
        {narrow ? null : (
          <IconButton
            label={t('frame.collapseNavigation')}
            size="icon-small"
            side="right"
            onClick={() => setFolded('yes')}
          >
            <PanelLeftClose aria-hidden />
          </IconButton>
        )}
      </div>
      <div className="flex flex-1 flex-col gap-0.5 p-2">
        {places.map(({ href, label, icon: Icon, current, count = 0 }) => {
          const link = (
            <Link
              key={href}
              href={href}
              aria-current={current ? 'page' : undefined}
              aria-label={narrow ? nameOf(t, label, count) : undefined}
              className={cn(
                'flex h-8 items-center gap-2.5 rounded-md px-2.5 text-sm text-ink-muted hover:bg-raised hover:text-ink',
                current && 'bg-raised font-medium text-ink',
                narrow && 'relative justify-center px-0',
              )}
            >
              <Icon aria-hidden className="size-4 shrink-0" />
              {narrow ? null : (
                <span>
                  {label}
                  {count === 0 ? null : <span className="sr-only">, {waitingWords(t, count)}</span>}
                </span>
              )}
              <Count count={count} corner={narrow} />
            </Link>
          );
          return narrow ? (
            <Tooltip key={href} label={label} side="right">
              {link}
            </Tooltip>
          ) : (
            link
          );
        })}
      </div>
      <div className="flex flex-col gap-1 border-t border-line p-2">
        {narrow ? (
          <IconButton
            label={t('frame.expandNavigation')}
            side="right"
            className="self-center"
            onClick={() => setFolded('no')}
          >
            <PanelLeftOpen aria-hidden />
          </IconButton>
        ) : null}
        <UserMenu narrow={narrow} />
      </div>
    </nav>
  );
}

/** On top, below 768 px. */
export function CompactHeader() {
  const t = useTranslations();
  const places = usePlaces();
  return (
    <nav
      aria-label={t('frame.main')}
      className="flex h-12 shrink-0 items-center gap-1 border-b border-line bg-surface px-1.5 md:hidden"
    >
      <OrgSwitcher />
      <div className="flex shrink-0">
        {places
          .filter(({ wideOnly }) => wideOnly !== true)
          .map(({ href, label, icon: Icon, current, count = 0 }) => (
            <Link
              key={href}
              href={href}
              aria-label={nameOf(t, label, count)}
              aria-current={current ? 'page' : undefined}
              className={cn(
                'relative grid size-11 place-items-center rounded-md text-ink-muted',
                current && 'text-accent',
              )}
            >
              <Icon aria-hidden className="size-5" />
              <Count count={count} corner />
            </Link>
          ))}
      </div>
      <UserMenu narrow />
    </nav>
  );
}

const shownOf = (count: number): string => (count > 9 ? '9+' : String(count));
const waitingWords = (t: Translate, count: number): string => t('frame.waiting', { shown: shownOf(count), count });
const nameOf = (t: Translate, label: string, count: number): string =>
  count === 0 ? label : `${label}, ${waitingWords(t, count)}`;

/** How many wait; more than nine are many. */
function Count({ count, corner }: { count: number; corner: boolean }) {
  if (count === 0) return null;
  return (
    <span
      aria-hidden
      className={cn(
        'grid h-4 min-w-4 place-items-center rounded-full bg-accent px-1 text-[11px] font-medium text-on-accent tabular-nums',
        corner ? 'absolute top-0.5 right-0.5' : 'ml-auto',
      )}
    >
      {shownOf(count)}
    </span>
  );
}
