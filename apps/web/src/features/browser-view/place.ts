interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * A place of this window as a place of the page: the picture fills its box, whatever its scale. CSS pixels on both
 * sides; whole ones of the page.
 */
export function placeOnPage(
  at: { clientX: number; clientY: number },
  picture: Box,
  page: { width: number; height: number },
): { x: number; y: number } {
  if (picture.width === 0 || picture.height === 0) return { x: 0, y: 0 };
  return {
    x: inside(((at.clientX - picture.left) / picture.width) * page.width, page.width),
    y: inside(((at.clientY - picture.top) / picture.height) * page.height, page.height),
  };
}

function inside(value: number, size: number): number {
  return Math.max(0, Math.min(Math.round(value), size - 1));
}
