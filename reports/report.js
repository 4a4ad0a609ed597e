"use strict";
document.querySelectorAll("button[data-copies]").forEach((button) => {
  const source = document.getElementById(button.dataset.copies);
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", () => {
    const range = document.createRange();
    range.selectNodeContents(source);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = document.execCommand("copy") ? "Copied" : "Selected: press Ctrl+C";
    setTimeout(() => { button.textContent = label; }, 2000);
  });
});
