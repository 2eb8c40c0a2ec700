'use client';
import { useAddressValue } from '../../browser/address.ts';
import { PANELS } from '../changes/panels.ts';
import { useCommand } from '../commands/command-context.tsx';
import { useSession } from '../session/me.ts';

/** What can be done to the agent now; `null`: not now, or not by this user. */
export interface AgentVerbs {
  readonly stop: (() => void) | null;
  readonly pause: (() => void) | null;
  readonly resume: (() => void) | null;
}

/** Offers the commands of a conversation: of its agent and of the panes beside it. */
export function useConversationCommands({ stop, pause, resume }: AgentVerbs): void {
  const { org } = useSession();
  const [, setTab] = useAddressValue('tab');
  const show = (value: string) => {
    const needs = PANELS.find((panel) => panel.value === value)?.needs ?? null;
    return needs === null || org.permissions.includes(needs) ? () => setTab(value, 'push') : null;
  };
  useCommand('agent.stop', stop);
  useCommand('agent.pause', pause);
  useCommand('agent.resume', resume);
  useCommand('pane.changes', show('changes'));
  useCommand('pane.terminal', show('terminal'));
  useCommand('pane.files', show('files'));
  useCommand('pane.details', show('details'));
}
