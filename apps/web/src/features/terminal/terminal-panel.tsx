'use client';
import type { LiveShell } from '@slipway/contracts/live';
import { AfterDelay, Button, cn, EmptyState, IconButton, Menu, MenuItem, Skeleton } from '@slipway/ui';
import { Bot, Check, EllipsisVertical, Hand, Plus, SquareTerminal, X } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useRef } from 'react';
import { useStored } from '../../browser/stored.ts';
import type { Translate } from '../../messages/translate.ts';
import { useView } from '../conversation/conversation-context.ts';
import { useLifecycle } from '../conversation/use-lifecycle.ts';
import { LiveNotice } from '../live/live-notice.tsx';
import { ShellView } from './shell-view.tsx';
import { useShells } from './use-shells.ts';

/** The user's shells in the sandbox, and the agent's to look on. */
export function TerminalPanel() {
  const t = useTranslations();
  const { channel, shells, shown, show, open, close, lost } = useShells();
  const [reader, setReader] = useStored('terminal.screen-reader', 'off');
  const tabs = useRef<HTMLElement>(null);
  const connected = channel.state.phase === 'open';
  return (
    <div className="flex h-full min-h-0 flex-col">
      <LiveNotice channel={channel} what={t('terminal.theTerminal')} />
      <div className="flex h-10 shrink-0 items-center gap-1 border-b border-line px-2 touch:h-12">
        <nav
          ref={tabs}
          aria-label={t('terminal.shells')}
          className="flex min-w-0 flex-1 items-center gap-1 overflow-x-auto [scrollbar-width:none]"
        >
          {shells?.map((shell) => (
            <ShellTab
              key={shell.id}
              shell={shell}
              chosen={shell.id === shown?.id}
              show={() => show(shell.id)}
              close={() => close(shell.id)}
            />
          ))}
        </nav>
        <TakeOver />
        <IconButton label={t('terminal.newShell')} size="icon-small" onClick={open} disabled={!connected}>
          <Plus aria-hidden />
        </IconButton>
        <Menu
          trigger={
            <IconButton label={t('terminal.terminalSettings')} size="icon-small">
              <EllipsisVertical aria-hidden />
            </IconButton>
          }
        >
          <MenuItem onSelect={() => setReader(reader === 'on' ? 'off' : 'on')}>
            {reader === 'on' ? <Check aria-hidden /> : <span className="size-4" />} {t('terminal.screenReaderSupport')}
          </MenuItem>
        </Menu>
      </div>
      {shown !== null ? (
        <section aria-label={nameOf(t, shown)} className="flex min-h-0 flex-1 flex-col">
          <ShellView
            key={shown.id}
            shell={shown}
            screenReader={reader === 'on'}
            leave={() => tabs.current?.querySelector<HTMLElement>('[aria-pressed="true"]')?.focus()}
          />
        </section>
      ) : shells === null ? (
        <AfterDelay>
          <Skeleton className="m-3 h-40" />
        </AfterDelay>
      ) : (
        <EmptyState title={lost ? t('terminal.yourShellsHaveEnded') : t('terminal.noOpenShells')}>
          {lost ? t('terminal.theSandboxOrItsTools') : t('terminal.shellsKeepRunningInThe')}
          <span className="mt-3 block">
            <Button onClick={open} disabled={!connected}>
              <Plus aria-hidden /> {t('terminal.newShell')}
            </Button>
          </span>
        </EmptyState>
      )}
    </div>
  );
}

function ShellTab({
  shell,
  chosen,
  show,
  close,
}: {
  shell: LiveShell;
  chosen: boolean;
  show: () => void;
  close: () => void;
}) {
  const t = useTranslations();
  const agent = shell.owner === 'agent';
  return (
    <div
      className={cn(
        'flex h-7 shrink-0 items-center rounded-md text-xs touch:h-9',
        chosen ? 'bg-raised text-ink' : 'text-ink-muted hover:text-ink',
      )}
    >
      <button
        type="button"
        aria-pressed={chosen}
        onClick={show}
        className="flex h-full items-center gap-1.5 rounded-md px-2"
      >
        {agent ? <Bot aria-hidden className="size-3.5" /> : <SquareTerminal aria-hidden className="size-3.5" />}
        {nameOf(t, shell)}
        {shell.exitCode === null ? null : <span className="text-ink-muted">{t('terminal.ended')}</span>}
      </button>
      {agent ? null : (
        <IconButton label={t('terminal.close', { title: shell.title })} size="icon-small" onClick={close}>
          <X aria-hidden />
        </IconButton>
      )}
    </div>
  );
}

function nameOf(t: Translate, { owner, title }: LiveShell): string {
  return owner === 'agent' ? t('terminal.agentShell', { title }) : title;
}

/** While the agent works, two hands are on one workspace: stops the agent, whose sandbox stays. */
function TakeOver() {
  const t = useTranslations();
  const status = useView((view) => view.status);
  const { stop } = useLifecycle();
  if (status !== 'working' && !(stop.isSuccess && status === 'stopped')) return null;
  return status === 'working' ? (
    <Button
      size="small"
      busy={stop.isPending}
      onClick={() => stop.mutate()}
      title={t('terminal.stopsTheAgentYourNext')}
    >
      {stop.isPending ? null : <Hand aria-hidden />} {t('terminal.takeOver')}
    </Button>
  ) : (
    <span role="status" className="shrink-0 text-xs text-ink-muted">
      {t('terminal.theAgentHasStoppedSend')}
    </span>
  );
}
