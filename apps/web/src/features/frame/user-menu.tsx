'use client';
import { Button, cn, Menu, MenuChoices, MenuItem, MenuLabel, MenuSeparator } from '@slipway/ui';
import { Keyboard, LogOut, Monitor, Moon, Settings, Sun } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { useAvailableCommands } from '../commands/use-available-commands.ts';
import { useSession } from '../session/me.ts';
import { signOut } from '../session/sign-out.ts';
import { STILL_SIGNED_IN } from '../session/sign-out-button.tsx';
import { useThemeChoice } from '../settings/use-theme-choice.ts';

const THEMES = [
  { value: 'light', label: 'frame.light', icon: <Sun aria-hidden /> },
  { value: 'dark', label: 'frame.dark', icon: <Moon aria-hidden /> },
  { value: 'system', label: 'frame.system', icon: <Monitor aria-hidden /> },
] as const;

/** The user: settings, theme and sign-out. */
export function UserMenu({ narrow = false }: { narrow?: boolean }) {
  const t = useTranslations();
  const { me } = useSession();
  const { run } = useAvailableCommands();
  const [theme, setTheme] = useThemeChoice();
  return (
    <Menu
      align="start"
      trigger={
        <Button
          tone="quiet"
          className={cn(
            'justify-start gap-2 px-1.5',
            narrow ? 'size-11 justify-center p-0 md:size-8 md:self-center' : 'w-full',
          )}
        >
          <span
            aria-hidden
            className="grid size-6 shrink-0 place-items-center rounded-full bg-accent-soft text-2xs font-semibold text-accent"
          >
            {initials(me.name)}
          </span>
          <span className={narrow ? 'sr-only' : 'truncate'}>{me.name}</span>
          <span className="sr-only">{t('frame.themeAndSignOut')}</span>
        </Button>
      }
    >
      <MenuLabel>
        <span className="block text-sm font-medium text-ink">{me.name}</span>
        {me.email}
      </MenuLabel>
      <MenuSeparator />
      <MenuItem asChild>
        <Link href="/settings">
          <Settings aria-hidden /> {t('common.settings')}
        </Link>
      </MenuItem>
      <MenuItem onSelect={() => run('page.shortcuts')}>
        <Keyboard aria-hidden /> {t('commands.shortcuts')}
      </MenuItem>
      <MenuSeparator />
      <MenuChoices
        label={t('frame.theme')}
        value={theme}
        onChange={setTheme}
        choices={THEMES.map((theme) => ({ ...theme, label: t(theme.label) }))}
      />
      <MenuSeparator />
      <MenuItem onSelect={() => void signOut().catch(() => toast.error(t(STILL_SIGNED_IN)))}>
        <LogOut aria-hidden /> {t('common.signOut')}
      </MenuItem>
    </Menu>
  );
}

function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  return ((words[0]?.[0] ?? '?') + (words.length > 1 ? (words.at(-1)?.[0] ?? '') : '')).toUpperCase();
}
