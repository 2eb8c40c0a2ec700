import type { MemberRemoval } from '@slipway/contracts';
import { number } from '../../browser/format.ts';

/** What ends with a member, and what stays. */
export function RemovalWords({ removal: { keysRevoked, sandboxesStopping, conversationsKept, invitationsRevoked } }: { removal: MemberRemoval }) {
  return (
    <ul className="flex list-disc flex-col gap-1 pl-5">
      <li>
        {keysRevoked === 0 ? 'No API keys end.' : `${counted(keysRevoked, 'API key')} for this organization ${keysRevoked === 1 ? 'ends' : 'end'} at once.`}
      </li>
      {invitationsRevoked === 0 ? null : (
        <li>
          {counted(invitationsRevoked, 'open invitation')} of theirs {invitationsRevoked === 1 ? 'is' : 'are'} revoked.
        </li>
      )}
      <li>
        {sandboxesStopping === 0
          ? 'No sandbox of theirs runs.'
          : `${counted(sandboxesStopping, 'running sandbox')} ${sandboxesStopping === 1 ? 'is' : 'are'} paused within ten seconds; what is in them is kept.`}
      </li>
      <li>
        {conversationsKept === 0
          ? 'They have no conversations here.'
          : `${counted(conversationsKept, 'conversation')} ${conversationsKept === 1 ? 'stays' : 'stay'} with the organization.`}
      </li>
    </ul>
  );
}

function counted(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : noun.endsWith('x') ? 'es' : 's'}`;
}
