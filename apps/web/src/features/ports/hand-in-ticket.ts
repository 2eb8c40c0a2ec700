import type { SandboxAccess } from '@slipway/contracts/sandboxes';

/**
 * Whether the browser would open a tab now: only shortly after a press. One that does not tell is taken at its word
 * when the tab comes.
 */
export function mayOpenTab(): boolean {
  return navigator.userActivation?.isActive ?? true;
}

/**
 * Opens a tab on the port's own origin by posting the ticket there (`SandboxTicketForm`): in no address, no history and
 * no log. The tab has no way back to this page. Whether it came in, only that tab says.
 */
export function handInTicket({ ticket }: SandboxAccess, path: string): void {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = ticket.url;
  form.target = '_blank';
  // Not `noreferrer`: it would take the `Origin` away, by which the gateway knows us.
  form.rel = 'noopener';
  form.hidden = true;
  for (const [name, value] of Object.entries({ ticket: ticket.value, path })) {
    const input = document.createElement('input');
    input.type = 'hidden';
    input.name = name;
    input.value = value;
    form.append(input);
  }
  document.body.append(form);
  form.submit();
  form.remove();
}
