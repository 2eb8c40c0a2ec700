'use client';
import { cn, IconButton, Tooltip } from '@slipway/ui';
import { MessagesSquare, PanelLeftClose, PanelLeftOpen, SquarePen } from 'lucide-react';
import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { useStored } from '../../browser/stored.ts';
import { useSession } from '../session/me.ts';
import { Logo } from './logo.tsx';
import { PersonMenu } from './person-menu.tsx';

function usePlaces() {
  const { org } = useSession();
  const path = usePathname();
  const home = `/${org.slug}`;
  return [
    { href: home, label: 'New task', icon: SquarePen, current: path === home },
    { href: `${home}/conversations`, label: 'Conversations', icon: MessagesSquare, current: path.startsWith(`${home}/conversations`) },
  ];
}

/** Left, from 768 px. Folds to icons; the choice is kept in this browser. */
export function Rail() {
  const { org } = useSession();
  const places = usePlaces();
  const [folded, setFolded] = useStored('slipway.rail-folded', 'no');
  const narrow = folded === 'yes';
  return (
    <nav aria-label="Main" className={cn('hidden shrink-0 flex-col border-r border-line bg-surface md:flex', narrow ? 'w-14' : 'w-56')}>
      <div className={cn('flex h-12 items-center gap-2 px-3', narrow && 'justify-center px-0')}>
        <Logo className="size-6 shrink-0" />
        {narrow ? null : (
          <span className="min-w-0 flex-1 truncate text-sm font-semibold" title={org.name}>
            {org.name}
          </span>
        )}
        {narrow ? null : (
          <IconButton label="Fold the navigation" size="icon-small" side="right" onClick={() => setFolded('yes')}>
            <PanelLeftClose aria-hidden />
          </IconButton>
        )}
      </div>
      <div className="flex flex-1 flex-col gap-0.5 p-2">
        {places.map(({ href, label, icon: Icon, current }) => {
          const link = (
            <Link
              key={href}
              href={href}
              aria-current={current ? 'page' : undefined}
              aria-label={narrow ? label : undefined}
              className={cn(
                'flex h-8 items-center gap-2.5 rounded-md px-2.5 text-sm text-ink-muted hover:bg-raised hover:text-ink',
                current && 'bg-raised font-medium text-ink',
                narrow && 'justify-center px-0',
              )}
            >
              <Icon aria-hidden className="size-4 shrink-0" />
              {narrow ? null : label}
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
          <IconButton label="Unfold the navigation" side="right" className="self-center" onClick={() => setFolded('no')}>
            <PanelLeftOpen aria-hidden />
          </IconButton>
        ) : null}
        <PersonMenu narrow={narrow} />
      </div>
    </nav>
  );
}

/** On top, below 768 px. */
export function CompactHeader() {
  const { org } = useSession();
  const places = usePlaces();
  return (
    <nav aria-label="Main" className="flex h-12 shrink-0 items-center gap-1 border-b border-line bg-surface px-3 md:hidden">
      <Logo className="size-6 shrink-0" />
      <span className="min-w-0 flex-1 truncate pl-1 text-sm font-semibold">{org.name}</span>
      <div className="flex gap-1">
        {places.map(({ href, label, icon: Icon, current }) => (
          <Link
            key={href}
            href={href}
            aria-label={label}
            aria-current={current ? 'page' : undefined}
            className={cn('grid size-11 place-items-center rounded-md text-ink-muted', current && 'text-accent')}
          >
            <Icon aria-hidden className="size-5" />
          </Link>
        ))}
      </div>
      <PersonMenu narrow />
    </nav>
  );
}
