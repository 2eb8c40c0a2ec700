import { type ComponentProps, createElement } from 'react';

/**
 * A scrolling region that can be reached by keyboard and has a name. A group, not a landmark: there are many on a page.
 */
export function ScrollBox({
  label,
  ...rest
}: Omit<ComponentProps<'div'>, 'role' | 'tabIndex' | 'aria-label'> & { label: string }) {
  return createElement('div', { role: 'group', tabIndex: 0, 'aria-label': label, ...rest });
}
