'use client';
import { useRouter } from 'next/navigation';
import { useCallback, useMemo } from 'react';
import { useSession } from '../session/me.ts';
import { useCommandContext } from './command-context.tsx';
import { COMMAND_IDS, COMMANDS, type CommandId } from './commands.ts';

export interface AvailableCommands {
  /** In the order of the table. */
  readonly ids: readonly CommandId[];
  /** Does nothing for a command that is not available. */
  readonly run: (id: CommandId) => void;
}

/** The commands that this user can run on this page. */
export function useAvailableCommands(): AvailableCommands {
  const { handlers } = useCommandContext();
  const { org } = useSession();
  const router = useRouter();
  const ids = useMemo(
    () =>
      COMMAND_IDS.filter((id) => {
        const { permission, to } = COMMANDS[id];
        if (permission !== undefined && !org.permissions.includes(permission)) return false;
        return to !== undefined || handlers.has(id);
      }),
    [handlers, org.permissions],
  );
  const run = useCallback(
    (id: CommandId) => {
      if (!ids.includes(id)) return;
      const { to } = COMMANDS[id];
      if (to === undefined) handlers.get(id)?.at(-1)?.run();
      else router.push('org' in to ? `/${org.slug}${to.org}` : to.user);
    },
    [ids, handlers, org.slug, router],
  );
  return useMemo(() => ({ ids, run }), [ids, run]);
}
