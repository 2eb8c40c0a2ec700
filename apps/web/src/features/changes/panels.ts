import type { Permission } from '@slipway/contracts/organizations';
import dynamic from 'next/dynamic';
import type { ComponentType } from 'react';
import type { MessageKey } from '../../messages/translate.ts';
import { Ports } from '../ports/ports.tsx';
import { Changes, ChangesLabel } from './changes.tsx';
import { Details } from './details.tsx';

const Files = dynamic(() => import('../files/files.tsx').then((module) => module.FilesPanel), { ssr: false });
const TerminalPanel = dynamic(() => import('../terminal/terminal-panel.tsx').then((module) => module.TerminalPanel), {
  ssr: false,
});
const BrowserPanel = dynamic(() => import('../browser-view/browser-panel.tsx').then((module) => module.BrowserPanel), {
  ssr: false,
});
const TrafficPanel = dynamic(() => import('../traffic/traffic-panel.tsx').then((module) => module.TrafficPanel), {
  ssr: false,
});
const TracePanel = dynamic(() => import('../trace/trace-panel.tsx').then((module) => module.TracePanel), {
  ssr: false,
});

/** One panel beside the timeline. What is heavy loads its code when it is first shown (`next/dynamic`). */
interface Panel {
  /** In the address, as `tab`. */
  readonly value: string;
  readonly label: MessageKey | ComponentType;
  /** Without it the tab is hidden. `null`: everybody who sees the conversation. */
  readonly needs: Permission | null;
  readonly Body: ComponentType;
}

/** In the order of the tabs; the first is shown when the address names none. */
export const PANELS: readonly [Panel, ...Panel[]] = [
  { value: 'changes', label: ChangesLabel, needs: null, Body: Changes },
  { value: 'terminal', label: 'changes.terminal', needs: 'sandbox:access', Body: TerminalPanel },
  { value: 'files', label: 'changes.files', needs: 'sandbox:access', Body: Files },
  { value: 'browser', label: 'common.browser', needs: 'sandbox:access', Body: BrowserPanel },
  { value: 'ports', label: 'changes.ports', needs: 'sandbox:access', Body: Ports },
  { value: 'network', label: 'common.network', needs: null, Body: TrafficPanel },
  { value: 'trace', label: 'changes.trace', needs: null, Body: TracePanel },
  { value: 'details', label: 'common.details', needs: null, Body: Details },
];
