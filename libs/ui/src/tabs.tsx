'use client';
import { Tabs as Radix } from 'radix-ui';
import { type ReactNode, useEffect, useRef } from 'react';

/**
 * Tabs whose choice the caller holds, so that it can be in the address. Where their row is longer than its place, the
 * one that is open is in sight.
 */
export function Tabs({
  value,
  onChange,
  label,
  tabs,
  children,
}: {
  value: string;
  onChange: (value: string) => void;
  label: string;
  tabs: readonly { value: string; label: ReactNode }[];
  children: ReactNode;
}) {
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is open
  useEffect(() => {
    const row = list.current;
    if (row === null) return;
    const watch = new ResizeObserver(() =>
      row.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest', inline: 'center' }),
    );
    // A name that gets longer moves those behind it.
    for (const element of [row, ...row.children]) watch.observe(element);
    return () => watch.disconnect();
  }, [value]);
  return (
    <Radix.Root value={value} onValueChange={onChange} className="flex h-full min-h-0 flex-col">
      <Radix.List
        ref={list}
        aria-label={label}
        className="flex h-10 shrink-0 touch:h-11 items-stretch gap-1 overflow-x-auto px-3 shadow-[inset_0_-1px_0_var(--color-line)] [scrollbar-width:none]"
      >
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            className="inline-flex shrink-0 items-center gap-1.5 border-b-2 border-transparent px-2 text-sm text-ink-muted hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {children}
    </Radix.Root>
  );
}

export function TabPanel({ value, children }: { value: string; children: ReactNode }) {
  return (
    <Radix.Content value={value} className="min-h-0 flex-1 outline-none">
      {children}
    </Radix.Content>
  );
}
