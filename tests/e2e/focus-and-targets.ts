import type { Page } from 'playwright-core';

/**
 * Goes through the page by Tab, at most `most` times or until the focus comes back to the top.
 * @returns the elements that had the focus while something else covered all of them (WCAG 2.2, 2.4.11).
 */
export async function hiddenStops(page: Page, most: number): Promise<{ hidden: string[]; stops: number }> {
  const hidden: string[] = [];
  let stops = 0;
  for (; stops < most; stops += 1) {
    await page.keyboard.press('Tab');
    const found = await page.evaluate(() => {
      const at = document.activeElement;
      if (at === null || at === document.body) return 'none';
      const { left, top, right, bottom } = at.getBoundingClientRect();
      const isSeen = [0.1, 0.5, 0.9].some((across) =>
        [0.1, 0.5, 0.9].some((down) => {
          const hit = document.elementFromPoint(left + (right - left) * across, top + (bottom - top) * down);
          // What lies around everything says nothing of what is in front of it.
          if (hit === null || hit === document.body || hit === document.documentElement) return false;
          return at.contains(hit) || hit.contains(at) || hit.closest('label')?.contains(at) === true;
        }),
      );
      return isSeen ? '' : at.outerHTML.slice(0, 160);
    });
    if (found === 'none') break;
    if (found !== '') hidden.push(found);
  }
  return { hidden, stops };
}

/**
 * What can be pressed, is smaller than 24 by 24 px, and has another target within the circle of 24 px around its middle
 * (WCAG 2.2, 2.5.8). Links within a sentence may be as low as its line.
 */
export function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const LEAST = 24;
    const PRESSED = 'a[href], button, input:not([type="hidden"]), select, textarea, summary, [role="menuitem"]';
    const isSeen = (element: Element): boolean =>
      element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) &&
      element.getBoundingClientRect().width > 1;
    const isInASentence = (element: Element): boolean =>
      getComputedStyle(element).display === 'inline' &&
      [...(element.parentElement?.childNodes ?? [])].some(
        (node) => node.nodeType === Node.TEXT_NODE && (node.textContent ?? '').trim() !== '',
      );
    // A label is part of the target that it names.
    const boxOf = (element: Element): DOMRect => {
      const label = element.closest('label') ?? (element instanceof HTMLInputElement ? element.labels?.[0] : undefined);
      const own = element.getBoundingClientRect();
      const its = label?.getBoundingClientRect();
      return its === undefined || its.width * its.height < own.width * own.height ? own : its;
    };
    const targets = [...document.querySelectorAll(PRESSED)].filter(isSeen).map((element) => ({
      element,
      box: boxOf(element),
    }));
    const isSmall = (box: DOMRect): boolean => box.width < LEAST - 0.5 || box.height < LEAST - 0.5;
    const isNear = (small: DOMRect, other: DOMRect): boolean => {
      const x = small.left + small.width / 2;
      const y = small.top + small.height / 2;
      if (isSmall(other)) {
        const [across, down] = [other.left + other.width / 2 - x, other.top + other.height / 2 - y];
        return Math.hypot(across, down) < LEAST - 0.5;
      }
      const across = Math.max(other.left - x, x - other.right, 0);
      const down = Math.max(other.top - y, y - other.bottom, 0);
      return Math.hypot(across, down) < LEAST / 2 - 0.5;
    };
    return targets
      .filter(({ element, box }) => isSmall(box) && !isInASentence(element))
      .filter(({ element, box }) =>
        targets.some(
          (other) =>
            other.element !== element &&
            !other.element.contains(element) &&
            !element.contains(other.element) &&
            isNear(box, other.box),
        ),
      )
      .map(
        ({ element, box }) => `${Math.round(box.width)}×${Math.round(box.height)} ${element.outerHTML.slice(0, 160)}`,
      );
  });
}
