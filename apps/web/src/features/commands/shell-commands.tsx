'use client';
import dynamic from 'next/dynamic';
import { usePathname, useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { useEffect, useRef, useState } from 'react';
import { toast } from 'sonner';
import { adminTabs } from '../admin/tabs.ts';
import { useSession } from '../session/me.ts';
import { signOut } from '../session/sign-out.ts';
import { STILL_SIGNED_IN } from '../session/sign-out-button.tsx';
import { useThemeChoice } from '../settings/use-theme-choice.ts';
import { useCommand, useCommandContext } from './command-context.tsx';
import { useCommandKeys } from './use-command-keys.ts';
import { useTypedEarly } from './use-typed-early.ts';

const Palette = dynamic(() => import('./palette.tsx'), { ssr: false });
const ShortcutList = dynamic(() => import('./shortcut-list.tsx'), { ssr: false });

/** The commands that every page has, and their dialogs. Their code is loaded when one is opened. */
export function ShellCommands() {
  const t = useTranslations();
  const { org } = useSession();
  const router = useRouter();
  const [, setTheme] = useThemeChoice();
  const [open, setOpen] = useState<'palette' | 'turns' | 'shortcuts' | null>(null);
  const { places } = useCommandContext();
  const [words, setWords] = useTypedEarly(open === 'shortcuts' ? null : open);
  const search = useSearchOfPage(`/${org.slug}/conversations`);
  const close = (): void => setOpen(null);
  useCommandKeys();
  useCommand('palette.open', () => setOpen('palette'));
  useCommand('turn.jump', places === null ? null : () => setOpen('turns'));
  useCommand('page.shortcuts', () => setOpen('shortcuts'));
  useCommand('page.search', search);
  useCommand('go.admin', adminTabs(org).length === 0 ? null : () => router.push(`/${org.slug}/admin`));
  useCommand('account.theme-light', () => setTheme('light'));
  useCommand('account.theme-dark', () => setTheme('dark'));
  useCommand('account.theme-system', () => setTheme('system'));
  useCommand('account.sign-out', () => void signOut().catch(() => toast.error(t(STILL_SIGNED_IN))));
  if (open === 'palette' || open === 'turns')
    return <Palette key={open} turnsOnly={open === 'turns'} words={words} setWords={setWords} close={close} />;
  return open === 'shortcuts' ? <ShortcutList close={close} /> : null;
}

/** Focuses the page's own search, or goes to the conversations and to theirs. */
function useSearchOfPage(conversations: string): () => void {
  const router = useRouter();
  const path = usePathname();
  /** The page that is on its way has the search that was asked for. */
  const searching = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when another page is there
  useEffect(() => {
    if (searching.current) focusSearch();
    searching.current = false;
  }, [path]);
  return () => {
    searching.current = !focusSearch();
    if (searching.current) router.push(conversations);
  };
}

/** @returns whether this page has a search. */
function focusSearch(): boolean {
  const field = [...document.querySelectorAll<HTMLInputElement>('main input[type="search"]')].find(
    (input) => input.checkVisibility() && !input.disabled,
  );
  field?.focus();
  field?.select();
  return field !== undefined;
}
