import type { Permission } from '@slipway/contracts/organizations';
import type { MessageKey } from '../../messages/translate.ts';

export const COMMAND_GROUPS = ['navigation', 'conversation', 'page', 'account'] as const;
export type CommandGroup = (typeof COMMAND_GROUPS)[number];

/** How a command is run: it leads somewhere, or a component that is on the page does it (`useCommand`). */
export interface Command {
  readonly label: MessageKey;
  readonly group: CommandGroup;
  /**
   * Default keys in the notation of tinykeys: presses of a sequence apart by a space, `$mod` is ⌘ on a Mac and Ctrl
   * elsewhere. `null`: none.
   */
  readonly keys: string | null;
  /** The rest of the organization's address, or a whole one of the user's own settings. */
  readonly to?: { readonly org: string } | { readonly user: string };
  readonly permission?: Permission;
  /** Its keys work in fields too, since no text is typed with them. */
  readonly inFields?: true;
  /** Handled where the focus is; listed here so that no other command takes its keys. Cannot be changed. */
  readonly fixed?: true;
  /** Works on this page only: commands of another page may have the same keys. */
  readonly page?: 'conversation' | 'desk' | 'review';
  /** Never there on this page, whose commands may have its keys. */
  readonly notOn?: 'review';
  /** Not offered by the palette, which is open already or cannot do it. */
  readonly keysOnly?: true;
}

/** Every command of the app. The palette, keys, menus, the list of shortcuts and docs/shortcuts.md are made from it. */
const TABLE = {
  'palette.open': {
    label: 'commands.openPalette',
    group: 'page',
    keys: '$mod+k',
    inFields: true,
    keysOnly: true,
  },
  'task.new': {
    label: 'common.newTask',
    group: 'navigation',
    keys: 'c',
    to: { org: '' },
    permission: 'conversation:create',
  },
  'go.desk': { label: 'commands.goToDesk', group: 'navigation', keys: 'g h', to: { org: '' } },
  'go.conversations': {
    label: 'commands.goToConversations',
    group: 'navigation',
    keys: 'g c',
    to: { org: '/conversations' },
  },
  'go.prompts': {
    label: 'commands.goToPrompts',
    group: 'navigation',
    keys: 'g p',
    to: { org: '/prompts' },
    permission: 'prompt:read',
  },
  'go.admin': { label: 'commands.goToAdmin', group: 'navigation', keys: 'g a' },
  'go.settings': {
    label: 'commands.goToSettings',
    group: 'navigation',
    keys: 'g s',
    to: { user: '/settings/profile' },
  },
  'go.shortcuts': {
    label: 'commands.changeShortcuts',
    group: 'navigation',
    keys: null,
    to: { user: '/settings/keys' },
  },
  'page.search': { label: 'commands.search', group: 'page', keys: '/' },
  'page.shortcuts': { label: 'commands.showShortcuts', group: 'page', keys: '[Shift]+?' },
  'page.leave-field': { label: 'commands.leaveField', group: 'page', keys: 'Escape', fixed: true, keysOnly: true },
  'message.send': {
    label: 'commands.send',
    group: 'conversation',
    keys: '$mod+Enter',
    fixed: true,
    keysOnly: true,
    notOn: 'review',
  },
  'agent.stop': { label: 'commands.stopAgent', group: 'conversation', keys: null },
  'agent.pause': { label: 'commands.pauseAgent', group: 'conversation', keys: null },
  'agent.resume': { label: 'commands.resumeAgent', group: 'conversation', keys: null },
  'edit.rename': {
    label: 'commands.renameConversation',
    group: 'conversation',
    keys: null,
    permission: 'conversation:write',
  },
  'edit.pin': {
    label: 'commands.pinConversation',
    group: 'conversation',
    keys: null,
    permission: 'conversation:write',
  },
  'edit.unpin': {
    label: 'commands.unpinConversation',
    group: 'conversation',
    keys: null,
    permission: 'conversation:write',
  },
  'edit.archive': {
    label: 'commands.archiveConversation',
    group: 'conversation',
    keys: null,
    permission: 'conversation:write',
  },
  'edit.unarchive': {
    label: 'commands.unarchiveConversation',
    group: 'conversation',
    keys: null,
    permission: 'conversation:write',
  },
  'edit.delete': {
    label: 'commands.deleteConversation',
    group: 'conversation',
    keys: null,
    permission: 'conversation:write',
  },
  'pane.changes': { label: 'commands.showChanges', group: 'conversation', keys: 'g d' },
  'pane.terminal': { label: 'commands.showTerminal', group: 'conversation', keys: 'g t' },
  'pane.files': { label: 'commands.showFiles', group: 'conversation', keys: 'g f' },
  'pane.details': { label: 'commands.showDetails', group: 'conversation', keys: 'g i' },
  'review.open': { label: 'commands.openReview', group: 'conversation', keys: 'g r' },
  'desk.next': { label: 'commands.deskNext', group: 'page', keys: 'j', page: 'desk' },
  'desk.previous': { label: 'commands.deskPrevious', group: 'page', keys: 'k', page: 'desk' },
  'desk.open': {
    label: 'commands.deskOpen',
    group: 'page',
    keys: 'Enter',
    page: 'desk',
    fixed: true,
    keysOnly: true,
  },
  'desk.approve': { label: 'commands.deskApprove', group: 'page', keys: 'a', page: 'desk' },
  'desk.reply': { label: 'commands.deskReply', group: 'page', keys: 'r', page: 'desk' },
  'desk.done': { label: 'commands.deskDone', group: 'page', keys: 'e', page: 'desk' },
  'desk.snooze': { label: 'commands.deskSnooze', group: 'page', keys: 's', page: 'desk' },
  'desk.snooze-tomorrow': { label: 'commands.deskSnoozeTomorrow', group: 'page', keys: 'Shift+s', page: 'desk' },
  'desk.mute': { label: 'commands.deskMute', group: 'page', keys: 'm', page: 'desk' },
  'review.next-file': { label: 'commands.nextFile', group: 'page', keys: 'j', page: 'review' },
  'review.previous-file': { label: 'commands.previousFile', group: 'page', keys: 'k', page: 'review' },
  'review.next-hunk': { label: 'commands.nextHunk', group: 'page', keys: 'n', page: 'review' },
  'review.previous-hunk': { label: 'commands.previousHunk', group: 'page', keys: 'p', page: 'review' },
  'review.next-thread': { label: 'commands.nextThread', group: 'page', keys: 'Shift+n', page: 'review' },
  'review.previous-thread': { label: 'commands.previousThread', group: 'page', keys: 'Shift+p', page: 'review' },
  'review.comment': { label: 'commands.commentOnLines', group: 'page', keys: 'm', page: 'review' },
  'review.suggest': { label: 'commands.suggestChange', group: 'page', keys: 's', page: 'review' },
  'review.revert': { label: 'commands.takeBackChange', group: 'page', keys: 'u', page: 'review' },
  'review.looked': { label: 'commands.markLooked', group: 'page', keys: 'l', page: 'review' },
  'review.viewed': { label: 'commands.markViewed', group: 'page', keys: 'v', page: 'review' },
  'review.split': { label: 'commands.splitDiff', group: 'page', keys: 'd', page: 'review' },
  'review.order': { label: 'commands.chaptersOrPaths', group: 'page', keys: 't', page: 'review' },
  'review.send': { label: 'commands.sendReview', group: 'page', keys: '$mod+Enter', page: 'review' },
  'turn.previous': { label: 'commands.previousTurn', group: 'conversation', keys: '[' },
  'turn.next': { label: 'commands.nextTurn', group: 'conversation', keys: ']' },
  'turn.jump': { label: 'commands.jumpToTurn', group: 'conversation', keys: 'g j' },
  'failure.previous': { label: 'commands.previousFailure', group: 'conversation', keys: '[Shift]+{' },
  'failure.next': { label: 'commands.nextFailure', group: 'conversation', keys: '[Shift]+}' },
  'recap.next': { label: 'commands.nextNewRow', group: 'conversation', keys: 'n', page: 'conversation' },
  'page.find': { label: 'commands.findInConversation', group: 'conversation', keys: '$mod+f', inFields: true },
  'row.copy-link': { label: 'commands.copyLinkToRow', group: 'conversation', keys: 'y' },
  'account.theme-light': { label: 'commands.themeLight', group: 'account', keys: null },
  'account.theme-dark': { label: 'commands.themeDark', group: 'account', keys: null },
  'account.theme-system': { label: 'commands.themeSystem', group: 'account', keys: null },
  'account.sign-out': { label: 'common.signOut', group: 'account', keys: null },
} as const satisfies Readonly<Record<string, Command>>;

export type CommandId = keyof typeof TABLE;
export const COMMANDS: Readonly<Record<CommandId, Command>> = TABLE;
export const COMMAND_IDS = Object.keys(TABLE) as readonly CommandId[];

export const isCommandId = (value: string): value is CommandId => Object.hasOwn(TABLE, value);
