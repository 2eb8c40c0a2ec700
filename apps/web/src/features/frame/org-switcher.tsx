'use client';
import type { Org } from '@slipway/contracts/organizations';
import { Button, cn, Menu, MenuItem, MenuLabel, MenuSeparator } from '@slipway/ui';
import { Check, ChevronsUpDown, Plus } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import type { Translate } from '../../messages/translate.ts';
import { useSession } from '../session/me.ts';
import { Logo } from './logo.tsx';

/** Which organization this tab is in, and the way into another: a link, so that it also opens in a tab of its own. */
export function OrgSwitcher({ narrow = false }: { narrow?: boolean }) {
  const t = useTranslations();
  const { me, org } = useSession();
  return (
    <Menu
      align="start"
      trigger={
        <Button
          tone="quiet"
          title={org.name}
          aria-label={t('frame.switchOrganization', { name: org.name })}
          className={cn(
            'min-w-0 justify-start gap-2 px-1.5 text-ink',
            narrow ? 'size-11 justify-center p-0 md:size-8' : 'h-9 flex-1 touch:h-11',
          )}
        >
          <Logo className="size-6! shrink-0" />
          {narrow ? null : <span className="min-w-0 flex-1 truncate text-left text-sm font-semibold">{org.name}</span>}
          {narrow ? null : <ChevronsUpDown aria-hidden className="size-4 shrink-0 text-ink-muted" />}
        </Button>
      }
    >
      <MenuLabel>{t('frame.organizations')}</MenuLabel>
      {me.orgs.map((each) => (
        <MenuItem key={each.id} asChild>
          <Link href={`/${each.slug}`} aria-current={each.id === org.id ? 'true' : undefined} className="max-w-72 py-1">
            <span className="min-w-0 flex-1">
              <span className="block truncate">{each.name}</span>
              <span className={cn('block truncate text-xs', each.deletesAt === null ? 'text-ink-muted' : 'text-bad')}>
                {noteOf(t, each)}
              </span>
            </span>
            {each.id === org.id ? <Check aria-hidden /> : null}
          </Link>
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem asChild>
        <Link href="/orgs/new">
          <Plus aria-hidden /> {t('frame.createOrganization')}
        </Link>
      </MenuItem>
    </Menu>
  );
}

function noteOf(t: Translate, org: Org): string {
  if (org.deletesAt !== null) return t('frame.beingDeleted');
  return org.kind === 'personal' ? t('frame.personal') : org.role.charAt(0).toUpperCase() + org.role.slice(1);
}
