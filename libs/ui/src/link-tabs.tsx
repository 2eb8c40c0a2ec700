'use client';
import { Slot } from 'radix-ui';
import { type ReactElement, useEffect, useId, useRef } from 'react';
import { cn } from './class-names.js';

export interface LinkTab {
  readonly key: string;
  /** Heading of the tabs that it stands with; those of one group follow each other. */
  readonly group?: string;
  readonly current: boolean;
  /** A link: its text is the tab's name. */
  readonly link: ReactElement;
}

/**
 * Pages of one place, as links: beside the page from 1024 px, with the headings of their groups; before that a row that
 * scrolls by itself above it.
 */
export function LinkTabs({ label, tabs, className }: { label: string; tabs: readonly LinkTab[]; className?: string }) {
  const nav = useRef<HTMLElement>(null);
  const current = tabs.find((tab) => tab.current)?.key;
  useEffect(() => {
    const row = nav.current;
    if (row === null || current === undefined) return;
    // Where the row is longer than the screen, the page that is open is in sight; also on a phone that is turned.
    const watch = new ResizeObserver(() =>
      row.querySelector('[aria-current="page"]')?.scrollIntoView({ block: 'nearest', inline: 'center' }),
    );
    watch.observe(row);
    return () => watch.disconnect();
  }, [current]);
  return (
    <nav
      ref={nav}
      aria-label={label}
      className={cn(
        'flex shrink-0 gap-1 overflow-x-auto border-b border-line px-3 lg:w-48 lg:flex-col lg:gap-0.5 lg:overflow-x-visible lg:overflow-y-auto lg:border-r lg:border-b-0 lg:p-3',
        className,
      )}
    >
      {groupsOf(tabs).map(({ group, tabs: members }) =>
        group === undefined ? (
          members.map(({ key, current: isCurrent, link }) => <Tab key={key} current={isCurrent} link={link} />)
        ) : (
          <Group key={group} name={group} tabs={members} />
        ),
      )}
    </nav>
  );
}

function Group({ name, tabs }: { name: string; tabs: readonly LinkTab[] }) {
  const id = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form
    <div role="group" aria-labelledby={id} className="flex shrink-0 gap-1 lg:mb-3 lg:flex-col lg:gap-0.5">
      <span id={id} className="hidden px-2.5 pb-1 text-xs font-medium text-ink-muted lg:block">
        {name}
      </span>
      {tabs.map(({ key, current, link }) => (
        <Tab key={key} current={current} link={link} />
      ))}
    </div>
  );
}

function Tab({ current, link }: Pick<LinkTab, 'current' | 'link'>) {
  return (
    <Slot.Root
      aria-current={current ? 'page' : undefined}
      className={cn(
        'inline-flex h-10 shrink-0 items-center border-b-2 border-transparent px-2 text-sm whitespace-nowrap text-ink-muted outline-offset-[-2px] hover:text-ink touch:h-11 lg:h-8 lg:rounded-md lg:border-b-0 lg:px-2.5 lg:hover:bg-raised',
        current && 'border-accent font-medium text-ink lg:bg-raised',
      )}
    >
      {link}
    </Slot.Root>
  );
}

function groupsOf(tabs: readonly LinkTab[]): ReadonlyArray<{ group: string | undefined; tabs: readonly LinkTab[] }> {
  return [...new Set(tabs.map(({ group }) => group))].map((group) => ({
    group,
    tabs: tabs.filter((tab) => tab.group === group),
  }));
}
